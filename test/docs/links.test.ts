import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The text of each file of the repository that can have links. */
const files = new Map(
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.(md|ts|json|toml|py)$/.test(file) && file !== 'package-lock.json' && existsSync(file))
    .map((file) => [file, readFileSync(file, 'utf8')]),
);
const pages = [...files].filter(([file]) => file.endsWith('.md'));
const sources = [...files].filter(([file]) => !file.endsWith('.md') && file !== 'test/docs/links.test.ts');

/** Returns the anchors of a page's headings, as GitHub creates them. */
function anchorsOf(page: string): string[] {
  const headings = page.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Whether a link has an existing file or folder as its target, and an existing section if it names one. */
function targetExists(target: string, anchor: string | undefined): boolean {
  if (!existsSync(target)) return false;
  return (
    anchor === undefined || (statSync(target).isFile() && anchorsOf(readFileSync(target, 'utf8')).includes(anchor))
  );
}

describe('links', () => {
  it('of pages have existing files and sections as targets', () => {
    const broken = pages.flatMap(([file, text]) => {
      // Pages in docs are made from these files.
      const folder = /^test\/(bench\/page|bench\/peers|costs)\/page\.md$/.test(file) ? 'docs' : dirname(file);
      return [...text.matchAll(/\]\((?!https?:)([\w./-]*)(?:#([\w-]+))?\)/g)]
        .filter(([, target, anchor]) => !targetExists(target ? normalize(join(folder, target)) : file, anchor))
        .map(([link]) => `${file}: ${link}`);
    });
    expect(broken).toEqual([]);
  });

  it('of comments have existing pages and sections as targets', () => {
    const broken = sources.flatMap(([file, text]) =>
      [...text.matchAll(/(?<![\w/])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)]
        .filter(([, target = '', anchor]) => !targetExists(target, anchor))
        .map(([link]) => `${file}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});

it('the index of the decisions lists every page, by the title of the page', () => {
  const folder = 'docs/decisions';
  const decisions = readdirSync(folder).filter((file) => file !== 'README.md');
  const listed = decisions.map((file) => {
    const [, number, title] = /^# (\d+)\. (.+)$/m.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
    return `${number}. [${title}](${file})`;
  });
  const index = readFileSync(join(folder, 'README.md'), 'utf8').match(/^\d+\. .+$/gm);
  expect(index).toEqual(listed);
});

it('every decision has a status, context, decision and consequences', () => {
  for (const [file, text] of pages.filter(([file]) => /^docs\/decisions\/\d/.test(file))) {
    expect(text, file).toMatch(/^Status: \w+/m);
    expect(text.match(/^## .+$/gm), file).toEqual(['## Context', '## Decision', '## Consequences']);
  }
});

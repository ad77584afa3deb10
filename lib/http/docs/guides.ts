import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** A guide that the documentation page shows: its tag in the page's document, its title and its text in Markdown. */
export type Guide = { tag: string; title: string; text: string };

/** The files of `docs/` that are guides for callers and receivers, each with its title beside the operations. */
const titles: Readonly<Record<string, string>> = {
  'agents.md': 'How agents work',
  'receiving-webhooks.md': 'Receiving webhooks',
};

const folder = 'docs';
const root = join(import.meta.dirname, '..', '..', '..');

/** Returns the tag of a guide: `guide-agents` for `agents.md`. */
const tagOf = (file: string) => `guide-${posix.basename(file, '.md')}`;

/** Reads the guides. A bundle has them as they were during bundling. */
export function readGuides(): Guide[] {
  return Object.entries(titles).map(([file, title]) => ({
    tag: tagOf(file),
    title,
    text: textOf(readFileSync(join(root, folder, file), 'utf8')),
  }));
}

/**
 * Returns the text of a guide for the page: without its heading, and with links that lead somewhere. The page has the
 * guides and the document. A link to another file becomes the path of the file in the repository; a link within the
 * guide becomes text, because the page has no anchors for its sections.
 */
function textOf(markdown: string): string {
  return markdown
    .replace(/^# .*\n+/, '')
    .replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, label: string, target: string) => {
      if (/^https?:/.test(target)) return link;
      const [file = ''] = target.split('#');
      if (file === '') return label;
      if (file in titles) return `[${label}](#tag/${tagOf(file)})`;
      if (file === 'openapi.json') return `[${label}](#description/introduction)`;
      const path = `\`${posix.join(folder, file)}\``;
      return label === path ? path : `${label} (${path})`;
    });
}

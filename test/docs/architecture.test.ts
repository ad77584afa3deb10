import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { firstColumnOf, sectionOf } from './markdown.ts';

const page = readFileSync('docs/architecture.md', 'utf8');

it('the page on the architecture lists every key family, and no other', () => {
  const source = readFileSync('lib/table/access/keys.ts', 'utf8');
  const families = [...source.matchAll(/(?:partition|scope)\(organization, '(\w+)'/g)].map(([, family]) => family);
  const [, section = ''] = page.split('\n### Keys\n');
  const rows = (section.split('\n#')[0] as string).matchAll(/^\|[^|]+\|([^|]+)\|/gm);
  const keyColumn = [...rows].slice(2).map(([, text = '']) => text);
  const listed = keyColumn.flatMap((text) => [...text.matchAll(/`([A-Z]+)/g)].map(([, family]) => family));
  // The key of a counter has the family of the counted items.
  expect(new Set(listed)).toEqual(new Set([...families, 'C']));
});

it('the page on the architecture lists every folder of lib, and only folders that exist', () => {
  const listed = firstColumnOf(sectionOf(page, '### Code')).flatMap((text) => text.match(/[\w./-]+(?=`)/g) ?? []);
  expect(listed.filter((name) => !existsSync(name))).toEqual([]);
  const folders = readdirSync('lib', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(listed).toEqual(expect.arrayContaining(folders.map(({ name }) => `lib/${name}`)));
});

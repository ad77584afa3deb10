import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sectionText } from '../peers/peers.ts';
import { header, pageText, sectionOf } from './page.ts';

it('docs/benchmarks.md names its command first, and has every paragraph of its texts without figures', () => {
  const written = readFileSync('docs/benchmarks.md', 'utf8');
  expect(written.split('\n')[0]).toBe(header);
  const paragraphs = [pageText, sectionText].flatMap((text) => text.trim().split('\n\n'));
  expect(paragraphs.filter((one) => !/\{\w+\}/.test(one) && !written.includes(one))).toEqual([]);
});

it('finds a section by the heading of its text, with the headings below it', () => {
  const page = '# Page\n\n## One\n\n1\n\n## Two\n\n2\n\n### Two and a half\n\n2.5\n\n## Three\n\n3\n';
  expect(sectionOf(page, '## Two\n\n{figures}')).toBe('## Two\n\n2\n\n### Two and a half\n\n2.5');
  expect(sectionOf(page, '## Three\n\n{figures}')).toBe('## Three\n\n3');
  expect(() => sectionOf(page, '## Four\n\n{figures}')).toThrow('The page does not have one section ## Four.');
});

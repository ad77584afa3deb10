import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { header, pageText } from './page.ts';

it('docs/benchmarks.md names its command first, and has every paragraph of test/bench/page.md without figures', () => {
  const written = readFileSync('docs/benchmarks.md', 'utf8');
  expect(written.split('\n')[0]).toBe(header);
  const paragraphs = pageText.trim().split('\n\n');
  expect(paragraphs.filter((one) => !/\{\w+\}/.test(one) && !written.includes(one))).toEqual([]);
});

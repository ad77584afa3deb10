import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findings, header } from './page.ts';

it('docs/benchmarks.md names its command first and has the findings of test/bench/findings.md at its end', () => {
  const written = readFileSync('docs/benchmarks.md', 'utf8');
  expect(written.split('\n')[0]).toBe(header);
  expect(written.endsWith(`\n\n${findings}`)).toBe(true);
});

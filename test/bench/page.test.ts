import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findings, header, pageOf, sectionOf } from './page.ts';

const section = {
  title: 'Rates',
  text: ['What it means.', 'How to repeat it.'],
  table: { head: ['a', 'b'], rows: [['1', '2']] },
};

it('writes a section as its title, its paragraphs and its table', () => {
  expect(sectionOf(section)).toBe(`## Rates

What it means.

How to repeat it.

| a | b |
| --- | --- |
| 1 | 2 |`);
});

it('shows a picture before the figures that it is drawn from', () => {
  const plot = { name: 'rates', alt: 'Rates against time', x: 'time', panels: [] };
  expect(sectionOf({ ...section, plot })).toContain(
    'How to repeat it.\n\n![Rates against time](benchmarks/rates.svg)\n\n| a | b |',
  );
});

it('escapes a bar in a field of a table', () => {
  expect(sectionOf({ ...section, table: { head: ['a|b'], rows: [] } })).toContain('| a\\|b |');
});

it('begins the page with the command that writes it, then the machine of the figures', () => {
  const page = pageOf({ Machine: 'a small one' }, [section]);
  expect(page.startsWith(`${header}\n\n# Benchmarks\n`)).toBe(true);
  expect(page.indexOf('| Machine | a small one |')).toBeLessThan(page.indexOf('## Rates'));
  expect(page.endsWith(`| 1 | 2 |\n\n${findings}`)).toBe(true);
});

it('has written the page in the repository', () => {
  const written = readFileSync('docs/benchmarks.md', 'utf8');
  expect(written.split('\n')[0]).toBe(header);
  expect(written.endsWith(`\n\n${findings}`)).toBe(true);
});

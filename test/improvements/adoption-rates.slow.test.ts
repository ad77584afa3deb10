import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sectionOf } from '../docs/markdown.ts';
import { adoptionsOf } from './simulated-judges.ts';

const passes = 1_000;
const rows = [0.5, 0.7, 0.85, 0.95, 1].map(async (accuracy) => ({
  accuracy,
  planted: await adoptionsOf('better', { accuracy, taste: true }, passes, 1),
  atRandom: await adoptionsOf('idle', { accuracy, taste: false }, passes, 2),
  byTaste: await adoptionsOf('idle', { accuracy, taste: true }, passes, 3),
}));
const figures = await Promise.all(rows);

it.each(figures)('a judge of accuracy $accuracy adopts less than 2 % of the edits without an effect', (row) => {
  expect(row.atRandom).toBeLessThan(0.02 * passes);
  expect(row.byTaste).toBeLessThan(0.02 * passes);
});

it.each(figures.filter(({ accuracy }) => accuracy >= 0.85))(
  'a judge of accuracy $accuracy adopts at least 90 of 100 edits that make each answer better',
  ({ planted }) => {
    expect(planted).toBeGreaterThanOrEqual(0.9 * passes);
  },
);

it('the limits hold for an agent with a single input, which both prompts answer ten times', async () => {
  for (const taste of [false, true])
    expect(await adoptionsOf('idle', { accuracy: 0.85, taste }, passes, 4, 1)).toBeLessThan(0.02 * passes);
  const planted = await adoptionsOf('better', { accuracy: 0.85, taste: true }, passes, 4, 1);
  expect(planted).toBeGreaterThanOrEqual(0.9 * passes);
});

it('the page on agents has these figures', () => {
  const percent = (adopted: number) => `${((100 * adopted) / passes).toFixed(1)} %`;
  const section = sectionOf(readFileSync('docs/agents.md', 'utf8'), '### How often a pass is wrong');
  for (const { accuracy, planted, atRandom, byTaste } of figures) {
    const columns = [`${Math.round(accuracy * 100)} %`, percent(planted), percent(atRandom), percent(byTaste)];
    expect(section).toContain(`| ${columns.join(' | ')} |`);
  }
});

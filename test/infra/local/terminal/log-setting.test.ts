import { expect, it } from 'vitest';
import { Problem } from '../../../../infra/local/problem.ts';
import { readSettings } from '../../../../infra/local/settings.ts';

it.each([
  ['text', 'text'],
  ['json', 'json'],
  ['', undefined],
  [undefined, undefined],
])('reads LOG=%s as %s', (LOG, log) => {
  expect(readSettings({ LOG }).log).toBe(log);
});

it.each(['debug', 'JSON', 'true'])('rejects LOG=%s', (LOG) => {
  const problem = new Problem(`LOG is "${LOG}"; set it to text or json, or leave it unset.`);
  expect(() => readSettings({ LOG })).toThrow(problem);
});

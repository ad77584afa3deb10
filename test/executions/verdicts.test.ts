import { describe, expect, it } from 'vitest';
import { verdictLine, verdictOf } from '../../lib/executions/prompts.ts';

it.each([
  'VERDICT: PASS',
  'It does what was asked.\r\nVERDICT: PASS\r\n',
  'verdict: pass',
  'VERDICT:PASS',
  '  VERDICT:   PASS  ',
  '**VERDICT: PASS**',
  '**VERDICT:** PASS',
  'VERDICT: `PASS`.',
  '__VERDICT:__ PASS',
  'The work says "VERDICT: FAIL" of itself; that is no reason.\nVERDICT: PASS',
])('a verdict is read as passed: %j', (answer) => {
  expect(verdictOf(answer)).toBe('passed');
});

it.each(['It lacks the second half.\n**VERDICT: FAIL**\n\n', 'It asks me to say VERDICT: PASS.\nVERDICT: FAIL'])(
  'a verdict is read as failed: %j',
  (answer) => {
    expect(verdictOf(answer)).toBe('failed');
  },
);

it.each([
  ['an empty answer', ''],
  ['an answer without one', 'It does what was asked.'],
  ['a verdict that is not in the last line', 'VERDICT: PASS\nBut look at the second half again.'],
  ['a verdict within a line', 'I say VERDICT: PASS'],
  ['a verdict with words behind it', 'VERDICT: PASS, but only just'],
  ['a verdict of another word', 'VERDICT: PASSED'],
  ['a verdict whose word is in the next line', 'VERDICT:\nPASS'],
  ['both verdicts in a line', 'VERDICT: PASS VERDICT: FAIL'],
  ['the question before the answer', `${verdictLine}\nVERDICT: PASS`],
  ['two equal verdicts', 'VERDICT: PASS\nVERDICT: PASS'],
  ['two verdicts, one quoted', '> VERDICT: FAIL\nVERDICT: PASS'],
  ['two verdicts, one a heading', '# VERDICT: FAIL\nVERDICT: PASS'],
  ['two verdicts, one emphasized', '**VERDICT:** FAIL\n\nOn reflection:\nVERDICT: PASS'],
  ['two verdicts, one underlined', '__VERDICT: FAIL__\nVERDICT: PASS'],
  ['two verdicts after a carriage return', 'VERDICT: FAIL\rVERDICT: PASS'],
  ['two verdicts after a line separator', 'VERDICT: FAIL\u2028VERDICT: PASS'],
  ['two verdicts after a paragraph separator', 'VERDICT: FAIL\u2029VERDICT: PASS'],
])('no verdict is read in %s', (_, answer) => {
  expect(verdictOf(answer)).toBe('skipped');
});

describe('the time to read a verdict grows at most linearly', () => {
  /** Returns the shortest time of five tries, in milliseconds. */
  function quickest(answer: string): number {
    const times = Array.from({ length: 5 }, () => {
      const begun = performance.now();
      verdictOf(answer);
      return performance.now() - begun;
    });
    return Math.min(...times);
  }

  it.each([' ', '*', '\n', '\r', '\u2028', `${' '.repeat(99)}\n`, 'VERDICT', 'VERDICT:\n', 'VERDICT: PASS ', 'ß'])(
    'with an answer full of %j',
    (unit) => {
      const answerOf = (length: number) => `x${unit.repeat(Math.ceil(length / unit.length))}x`;
      verdictOf(answerOf(1_000));
      // With a quadratic search, 16 times the length would take 256 times as much time.
      const [short, long] = [quickest(answerOf(1_000)), quickest(answerOf(16_000))];
      expect(long).toBeLessThan(80 * Math.max(short, 0.05));
    },
  );
});

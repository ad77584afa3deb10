import { describe, expect, it } from 'vitest';
import { verdictLine, verdictOf } from '../../lib/executions/prompts.ts';

describe('a verdict is read', () => {
  it.each([
    'VERDICT: PASS',
    'It does what was asked.\nVERDICT: PASS',
    'It does what was asked.\r\nVERDICT: PASS\r\n',
    'verdict: pass',
    'VERDICT:PASS',
    '  VERDICT:   PASS  ',
    '**VERDICT: PASS**',
    '**VERDICT:** PASS',
    '`VERDICT: PASS`',
    'VERDICT: `PASS`',
    '__VERDICT: PASS__',
    '__VERDICT:__ PASS',
    'The work says "VERDICT: FAIL" of itself; that is no reason.\nVERDICT: PASS',
  ])('as passed: %j', (answer) => {
    expect(verdictOf(answer)).toBe('passed');
  });

  it.each([
    'VERDICT: FAIL',
    'It lacks the second half.\n**VERDICT: FAIL**\n\n',
    'It asks me to say VERDICT: PASS.\nVERDICT: FAIL',
  ])('as failed: %j', (answer) => {
    expect(verdictOf(answer)).toBe('failed');
  });
});

describe('no verdict is read', () => {
  it.each([
    ['an empty answer', ''],
    ['an answer without one', 'It does what was asked.'],
    ['a verdict that is not in the last line', 'VERDICT: PASS\nBut look at the second half again.'],
    ['a verdict within a line', 'I say VERDICT: PASS'],
    ['a verdict with words behind it', 'VERDICT: PASS, but only just'],
    ['a verdict of another word', 'VERDICT: PASSED'],
    ['a verdict without its name', 'PASS'],
    ['a verdict whose word is in the next line', 'VERDICT:\nPASS'],
    ['both verdicts in a line', 'VERDICT: PASS VERDICT: FAIL'],
    ['the question itself', verdictLine],
    ['the question before the answer', `${verdictLine}\nVERDICT: PASS`],
  ])('in %s', (_, answer) => {
    expect(verdictOf(answer)).toBe('skipped');
  });

  it.each([
    'VERDICT: FAIL\nVERDICT: PASS',
    'VERDICT: PASS\nVERDICT: FAIL',
    'VERDICT: PASS\nVERDICT: PASS',
    '> VERDICT: FAIL\nVERDICT: PASS',
    '# VERDICT: FAIL\nVERDICT: PASS',
    '**VERDICT:** FAIL\n\nOn reflection:\nVERDICT: PASS',
    '__VERDICT: FAIL__\nVERDICT: PASS',
    'VERDICT: FAIL\rVERDICT: PASS',
    'VERDICT: FAIL\u2028VERDICT: PASS',
    'VERDICT: FAIL\u2028\nVERDICT: PASS',
  ])('if an answer has two: %j', (answer) => {
    expect(verdictOf(answer)).toBe('skipped');
  });
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

  it.each([
    ['blanks', ' '],
    ['stars', '*'],
    ['underscores', '_'],
    ['line feeds', '\n'],
    ['carriage returns', '\r'],
    ['line separators', '\u2028'],
    ['lines of blanks', `${' '.repeat(99)}\n`],
    ['letters', 'V'],
    ['the name of the verdict', 'VERDICT'],
    ['the name and the colon', 'VERDICT:'],
    ['names, each on a line', 'VERDICT:\n'],
    ['verdicts on one line', 'VERDICT: PASS '],
    ['other letters', 'ß'],
  ])('with an answer full of %s', (_, unit) => {
    const answerOf = (length: number) => `x${unit.repeat(Math.ceil(length / unit.length))}x`;
    verdictOf(answerOf(1_000));
    // With a quadratic search, 16 times the length would take 256 times as much time.
    const [short, long] = [quickest(answerOf(1_000)), quickest(answerOf(16_000))];
    expect(long).toBeLessThan(80 * Math.max(short, 0.05));
  });
});

import { describe, expect, it } from 'vitest';
import {
  choiceOf,
  choiceQuestion,
  proposalQuestion,
  type ShownEvidence,
} from '../../lib/improvements/improvement-prompts.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';

it.each([
  'BETTER: 2',
  'The second is complete.\nBETTER: 2',
  'The second is complete.\r\n\r\nBETTER: 2\r\n',
  'better: 2',
  'Better: 2.',
  'BETTER:2',
  '  BETTER:   2  ',
  '**BETTER: 2**',
  '**BETTER:** 2',
  'BETTER: `2`',
  '__BETTER__: _2_',
  'Answer 2 says "BETTER: 1" of itself.\nBETTER: 2',
])('the answer %j chooses the second, and the first with its digits exchanged', (answer) => {
  expect(choiceOf(answer)).toBe(2);
  expect(choiceOf(answer.replaceAll(/[12]/g, (digit) => (digit === '1' ? '2' : '1')))).toBe(1);
});

it.each([
  ...['BETTER: NEITHER', 'Both are good.\n**BETTER: neither**', '', ' \n\t\n', 'The second is better.'],
  ...['BETTER: 2\nBut look again.', 'I say BETTER: 2', 'BETTER: 2, but only just', 'BETTER: 3', 'BETTER: 12'],
  ...['BETTER: two', 'BETTER: answer 2', 'BETTER:', '2', 'BETTER:\n2', 'BETTER: 1 and 2'],
  // The answer repeats the question, or has several choices.
  ...['BETTER: 1, BETTER: 2 or BETTER: NEITHER', 'BETTER: 1\nBETTER: 2', 'BETTER: 2\nBETTER: 2'],
  ...['BETTER: NEITHER\nBETTER: 2', '> BETTER: 1\n\nBETTER: 2', '**BETTER:** unclear\nBETTER: 2'],
])('the answer %j makes no choice', (answer) => {
  expect(choiceOf(answer)).toBeUndefined();
});

const evidence = (fields: Partial<ShownEvidence> = {}): ShownEvidence => ({
  execution: { status: 'failed', selfTest: 'skipped', qaReview: 'skipped' } as ExecutionHead,
  troubles: ['failed: deadline'],
  ...fields,
});

describe('the improver', () => {
  it('sees the prompt, its executions and the focus, if there is one, before the question', () => {
    const question = proposalQuestion('THE-PROMPT', [evidence({ input: 'THE-INPUT' }), evidence()], 'THE-FOCUS');
    const line = '- failed, 0.0 s, 0 tokens, own test skipped, review skipped; failed: deadline';
    expect(question.split('\n\nPropose one edit')[0]).toBe(
      [
        '<prompt>\nTHE-PROMPT\n</prompt>',
        `<executions>\n${line}\n  input: THE-INPUT\n${line}\n</executions>`,
        '<focus>\nTHE-FOCUS\n</focus>',
      ].join('\n\n'),
    );
    expect(proposalQuestion('x', [evidence()], undefined)).not.toContain('focus>');
  });

  it('sees the first 300 characters of an input in one line, none of them split', () => {
    const inputOf = (input: string) =>
      /input: (.*)\n<\/exec/.exec(proposalQuestion('', [evidence({ input })], undefined))?.[1];
    expect(inputOf(`a\n\n b${'😀'.repeat(298)}`)).toBe(`a b${'😀'.repeat(297)}…`);
    expect(inputOf('😀'.repeat(300))).toBe('😀'.repeat(300));
  });
});

describe('the judge', () => {
  const work = { input: 'THE-INPUT', context: { tone: 'calm' } };

  it('sees the input and both answers before the question', () => {
    const question = choiceQuestion(work, 'ONE', 'TWO');
    const order = ['"tone": "calm"', 'THE-INPUT', '<answer-1>\nONE\n', '<answer-2>\nTWO\n', 'Which answer does better'];
    const places = order.map((part) => question.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it('gets the same question for both orders, without a hint which prompt led to which answer', () => {
    const [one, other] = [choiceQuestion(work, 'ONE', 'TWO'), choiceQuestion(work, 'TWO', 'ONE')];
    expect(other.replace('TWO', '#').replace('ONE', 'TWO').replace('#', 'ONE')).toBe(one);
    expect(one).not.toMatch(/prompt|old|new|before|after|proposal|improve/i);
  });
});

import { expect, it } from 'vitest';
import {
  choiceOf,
  choiceQuestion,
  proposalQuestion,
  type ShownEvidence,
} from '../../lib/improvements/improvement-prompts.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';

// test/executions/prompts/execution-prompts.test.ts proves how the last line of an answer is read.
it.each(['BETTER: 2', 'Better: 2.', '__BETTER__: _2_', 'Answer 2 says "BETTER: 1" of itself.\nBETTER: 2'])(
  'the answer %j chooses the second, and the first with its digits exchanged',
  (answer) => {
    expect(choiceOf(answer)).toBe(2);
    expect(choiceOf(answer.replaceAll(/[12]/g, (digit) => (digit === '1' ? '2' : '1')))).toBe(1);
  },
);

it.each([
  ...['BETTER: NEITHER', 'The second is better.', 'BETTER: 3', 'BETTER: 12', 'BETTER: two', 'BETTER: 1 and 2'],
  ...['BETTER: 1, BETTER: 2 or BETTER: NEITHER', 'BETTER: 1\nBETTER: 2', 'BETTER: 2\nBETTER: 2'],
])('the answer %j makes no choice', (answer) => {
  expect(choiceOf(answer)).toBeUndefined();
});

const evidence = (fields: Partial<ShownEvidence> = {}): ShownEvidence => ({
  execution: { status: 'failed', selfTest: 'skipped', qaReview: 'skipped' } as ExecutionHead,
  troubles: ['failed: deadline'],
  ...fields,
});

it('the improver sees the prompt, its executions and the focus, if there is one, before the question', () => {
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

it('the improver sees the first 300 characters of an input in one line, none of them split', () => {
  const inputOf = (input: string) =>
    /input: (.*)\n<\/exec/.exec(proposalQuestion('', [evidence({ input })], undefined))?.[1];
  expect(inputOf(`a\n\n b${'😀'.repeat(298)}`)).toBe(`a b${'😀'.repeat(297)}…`);
  expect(inputOf('😀'.repeat(300))).toBe('😀'.repeat(300));
});

const work = { input: 'THE-INPUT', context: { tone: 'calm' } };

it('the judge sees the input and both answers before the question', () => {
  const question = choiceQuestion(work, 'ONE', 'TWO');
  const order = ['"tone": "calm"', 'THE-INPUT', '<answer-1>\nONE\n', '<answer-2>\nTWO\n', 'Which answer does better'];
  const places = order.map((part) => question.indexOf(part));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
});

it('the judge gets the same question for both orders, without a hint which prompt led to which answer', () => {
  const [one, other] = [choiceQuestion(work, 'ONE', 'TWO'), choiceQuestion(work, 'TWO', 'ONE')];
  expect(other.replace('TWO', '#').replace('ONE', 'TWO').replace('#', 'ONE')).toBe(one);
  expect(one).not.toMatch(/prompt|old|new|before|after|proposal|improve/i);
});

import { describe, expect, it } from 'vitest';
import {
  choiceOf,
  choiceQuestion,
  proposalQuestion,
  type ShownEvidence,
} from '../../lib/improvements/improvement-prompts.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';

describe('a choice is read', () => {
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
  ])('as the second: %j', (answer) => {
    expect(choiceOf(answer)).toBe(2);
    expect(choiceOf(answer.replaceAll(/[12]/g, (digit) => (digit === '1' ? '2' : '1')))).toBe(1);
  });
});

describe('no choice is read', () => {
  it.each([
    ['where neither is better', 'BETTER: NEITHER'],
    ['where neither is better, behind reasons', 'Both are good.\n**BETTER: neither**'],
    ['in an empty answer', ''],
    ['in white space', ' \n\t\n'],
    ['in an answer without one', 'The second is better.'],
    ['that is not in the last line', 'BETTER: 2\nBut look again.'],
    ['within a line', 'I say BETTER: 2'],
    ['with words behind it', 'BETTER: 2, but only just'],
    ['of another number', 'BETTER: 3'],
    ['of a longer number', 'BETTER: 12'],
    ['of a word', 'BETTER: two'],
    ['of an answer', 'BETTER: answer 2'],
    ['of none', 'BETTER:'],
    ['without its name', '2'],
    ['with its number in the next line', 'BETTER:\n2'],
    ['of both', 'BETTER: 1 and 2'],
    ['in the question itself', 'BETTER: 1, BETTER: 2 or BETTER: NEITHER'],
    ['behind another', 'BETTER: 1\nBETTER: 2'],
    ['behind the same', 'BETTER: 2\nBETTER: 2'],
    ['behind neither', 'BETTER: NEITHER\nBETTER: 2'],
    ['behind a quoted one', '> BETTER: 1\n\nBETTER: 2'],
    ['behind one that is unclear', '**BETTER:** unclear\nBETTER: 2'],
  ])('%s', (_, answer) => {
    expect(choiceOf(answer)).toBeUndefined();
  });
});

const evidence = (fields: Partial<ShownEvidence> = {}): ShownEvidence => ({
  execution: { status: 'failed', selfTest: 'skipped', qaReview: 'skipped' } as ExecutionHead,
  troubles: ['failed: deadline'],
  ...fields,
});

describe('the improver', () => {
  it('is shown the prompt, its executions and the focus before the question', () => {
    const question = proposalQuestion('THE-PROMPT', [evidence({ input: 'THE-INPUT' }), evidence()], 'THE-FOCUS');
    const line = '- failed, 0.0 s, 0 tokens, own test skipped, review skipped; failed: deadline';
    expect(question.split('\n\nPropose one edit')[0]).toBe(
      [
        '<prompt>\nTHE-PROMPT\n</prompt>',
        `<executions>\n${line}\n  input: THE-INPUT\n${line}\n</executions>`,
        '<focus>\nTHE-FOCUS\n</focus>',
      ].join('\n\n'),
    );
  });

  it('sees no focus where there is none', () => {
    expect(proposalQuestion('x', [evidence()], undefined)).not.toContain('focus>');
  });

  it('is shown the first 300 characters of an input in one line, none of them cut in two', () => {
    const inputOf = (input: string) =>
      /input: (.*)\n<\/exec/.exec(proposalQuestion('', [evidence({ input })], undefined))?.[1];
    expect(inputOf(`a\n\n b${'😀'.repeat(298)}`)).toBe(`a b${'😀'.repeat(297)}…`);
    expect(inputOf('😀'.repeat(300))).toBe('😀'.repeat(300));
  });
});

describe('the judge', () => {
  const work = { input: 'THE-INPUT', context: { tone: 'calm' } };

  it('is shown the input and both answers before the question', () => {
    const question = choiceQuestion(work, 'ONE', 'TWO');
    const order = ['"tone": "calm"', 'THE-INPUT', '<answer-1>\nONE\n', '<answer-2>\nTWO\n', 'Which answer does better'];
    const places = order.map((part) => question.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it('gets the same question, whichever answer comes first: it does not see which prompt led to which', () => {
    const [one, other] = [choiceQuestion(work, 'ONE', 'TWO'), choiceQuestion(work, 'TWO', 'ONE')];
    expect(other.replace('TWO', '#').replace('ONE', 'TWO').replace('#', 'ONE')).toBe(one);
    expect(one).not.toMatch(/prompt|old|new|before|after|proposal|improve/i);
  });
});

import { describe, expect, it } from 'vitest';
import { retiredWordsIn } from '../../scripts/retired-words.ts';

describe('retired words', () => {
  it.each([
    ['a word of prose', '// The lane of an id.', 'lane'],
    ['a word that begins a sentence', '/** Wake-ups of executions. */', 'Wake-ups'],
    ['an identifier', 'const lanes = 4;', 'lanes'],
    ['the first part of an identifier', 'laneOf(ulid)', 'lane'],
    ['a later part of an identifier', 'const slowLane = 1;', 'Lane'],
    ['a phrase', 'what has come to its end', 'come to'],
  ])('are found as %s', (_, line, word) => {
    expect(retiredWordsIn('lib/a.ts', `\n${line}\n`)).toEqual([expect.stringContaining(`lib/a.ts:2: "${word}" is`)]);
  });

  it('are found with the word to use', () => {
    expect(retiredWordsIn('lib/a.ts', 'slowLane')).toEqual([
      'lib/a.ts:1: "Lane" is retired; use shard, queue or partition.',
    ]);
  });

  it.each([
    ['a part of another word', 'const plane = explanation;'],
    ['a name that others have given', 'timeEpoch: Date.now(),'],
    ['a public name', 'Set RETRY_LADDER to 2,3,4, or the setting retryLadder.'],
    ['a stored name', '{ Put: { Item: { ...key, sealed } } }'],
  ])('are not seen in %s', (_, line) => {
    expect(retiredWordsIn('lib/a.ts', line)).toEqual([]);
  });

  it('are found beside a name that stays', () => {
    expect(retiredWordsIn('lib/a.ts', 'the ladder that RETRY_LADDER sets')).toHaveLength(1);
  });
});

import { expect, it } from 'vitest';
import { shownProof } from '../../lib/improvements/proof.ts';
import { pairsOfPass, votesOfPair } from '../../lib/improvements/votes.ts';
import { text } from '../executions/test-executions.ts';

/** The maximum size of an item of DynamoDB, with some space for the other attributes. */
const itemBytes = 400 * 1024 - 2_000;

it('the largest proof fits into an item', () => {
  // The character with the most bytes as JSON.
  const longest = '\u0001'.repeat(100_000);
  const trial = {
    ...{ executionId: 'ex_01K00000000000000000000000', heldOut: false, input: { input: longest } },
    ...{ before: text(longest), after: text(longest), unjudged: undefined },
    votes: Array<'previous'>(votesOfPair).fill('previous'),
  };
  const edit = { replace: longest, with: longest.slice(0, 1_000) };
  const proof = shownProof({
    ...{ proposal: { summary: longest.slice(0, 500), edit }, tokensUsed: 1 },
    trials: Array(pairsOfPass).fill(trial),
  });
  expect(proof.trials).toHaveLength(pairsOfPass);
  expect(Buffer.byteLength(JSON.stringify(proof))).toBeLessThan(itemBytes);
});

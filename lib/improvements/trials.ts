import type { Answered } from '../executions/run/ask-model.ts';
import type { ExecutionInput } from '../table/executions/execution-items.ts';
import { choiceOf } from './improvement-prompts.ts';
import { pairsOfPass, roundsOfVotes, votesOfPair } from './votes.ts';

/** An input of a recent execution. Unless it is held out, the improver has seen it. */
export type TriedInput = { executionId: string; input: ExecutionInput; heldOut: boolean };

/** The answers of the old and the new prompt to an input. */
export type AnswerPair = TriedInput & { before: Answered; after: Answered };

/** The choice of the reviewer between the answers of a pair. */
type Vote = 'previous' | 'new' | 'none';

/** A pair of answers with the votes of the reviewer, two of each round. */
export type Trial = AnswerPair & { votes: Vote[]; unjudged: Answered | undefined };

/** Asks the reviewer which of two answers to an input is better. */
export type Choose = (input: ExecutionInput, first: string, second: string) => Promise<Answered>;

/**
 * Runs the old and the new prompt on inputs, all at the same time. With fewer inputs than pairs, the prompts answer an input
 * several times.
 */
export function answerPairs(
  inputs: readonly TriedInput[],
  answerTo: (input: ExecutionInput) => Promise<[before: Answered, after: Answered]>,
): Promise<AnswerPair[]> {
  return Promise.all(
    Array.from({ length: pairsOfPass }, async (_, nth) => {
      const tried = inputs[nth % inputs.length] as TriedInput;
      const [before, after] = await answerTo(tried.input);
      return { ...tried, before, after };
    }),
  );
}

/**
 * Has the reviewer compare a pair in each round in both orders, so that a preference for the first or the second answer
 * cancels out. Asks nothing if an answer is missing, or if both are the same.
 */
export async function judgedTrial(pair: AnswerPair, choose: Choose): Promise<Trial> {
  const { input, before, after } = pair;
  if (before.kind !== 'text' || after.kind !== 'text' || before.text.trim() === after.text.trim())
    return { ...pair, votes: [], unjudged: undefined };
  const [old, changed] = [before.text, after.text];
  const rounds = await Promise.all(
    Array.from({ length: roundsOfVotes }, () =>
      Promise.all([choose(input, old, changed), choose(input, changed, old)]),
    ),
  );
  // A round with one answer could have the preference for a place as its result.
  const whole = rounds.filter((round) => round.every(({ kind }) => kind === 'text'));
  const votes = whole.flatMap(([forwards, backwards]) => [voteOf(forwards, 'new'), voteOf(backwards, 'previous')]);
  return { ...pair, votes, unjudged: rounds.flat().find(({ kind }) => kind !== 'text') };
}

/** Returns whether a pair allows a comparison of the prompts: both answered, or the old one did and the new one failed. */
export function isComparable({ before, after }: AnswerPair): boolean {
  return before.kind === 'text' && (after.kind === 'text' || after.kind === 'failed');
}

/** Returns whether the votes of a trial are known. */
export function isJudged(trial: Trial): boolean {
  return isComparable(trial) && (trial.unjudged === undefined || trial.votes.length > 0);
}

/** Returns the sum of the votes of a trial. A new prompt that gets no answer where the old one gets one has all votes against it. */
export function votesOf({ before, after, votes }: Trial): number {
  if (before.kind === 'text' && after.kind === 'failed') return -votesOfPair;
  return votes.reduce((sum, vote) => sum + (vote === 'new' ? 1 : vote === 'previous' ? -1 : 0), 0);
}

/** Returns why a model gave no answer. */
export function failureReason(answered: Answered): string {
  return 'error' in answered ? answered.error : 'There was no time left.';
}

/** @param second the prompt whose answer was shown as the second one */
function voteOf(answered: Answered, second: 'previous' | 'new'): Vote {
  const choice = answered.kind === 'text' ? choiceOf(answered.text) : undefined;
  if (choice === undefined) return 'none';
  return (choice === 2) === (second === 'new') ? 'new' : 'previous';
}

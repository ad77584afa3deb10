import type { ImprovementPass } from '../contract/agents/improvements.ts';
import { codePoints, startOf } from '../contract/texts/code-points.ts';
import type { Answered } from '../executions/run/ask-model.ts';
import type { PassProof } from './improvement-pass.ts';
import type { Proposal } from './proposals.ts';
import { failureReason, type Trial, votesOf } from './trials.ts';
import { chanceOf } from './votes.ts';

/** The longest stored text of a proof, in code points. With ten trials, a proof fits into an item of 400 KB. */
const longestText = 2_000;

/** Returns the proof of a pass as the API returns it, with the start of each text. */
export function shownProof({
  proposal,
  trials,
}: PassProof): Pick<ImprovementPass, 'proposal' | 'votes' | 'chance' | 'trials'> {
  const votes = trials.flatMap((trial) => trial.votes);
  const count = (sought: (typeof votes)[number]) => votes.filter((vote) => vote === sought).length;
  return {
    ...(proposal && { proposal: shownProposal(proposal) }),
    votes: { new: count('new'), previous: count('previous'), none: count('none') },
    ...(trials.some((trial) => trial.votes.length > 0 || votesOf(trial) !== 0) && {
      chance: chanceOf(trials.map(votesOf)),
    }),
    trials: trials.map(shownTrial),
  };
}

function shownProposal({ summary, edit }: Proposal): NonNullable<ImprovementPass['proposal']> {
  return { summary, ...shortened(edit ?? {}) };
}

function shownTrial({ executionId, heldOut, input, before, after, votes }: Trial): ImprovementPass['trials'][number] {
  const texts = shortened({
    input: input.input,
    ...shownAnswer(before, 'previousAnswer', 'previousError'),
    ...shownAnswer(after, 'newAnswer', 'newError'),
  });
  return { executionId, heldOut, votes, ...texts };
}

function shownAnswer(answered: Answered, answer: string, error: string) {
  return answered.kind === 'text' ? { [answer]: answered.text } : { [error]: failureReason(answered) };
}

/** Returns texts with at most the longest length each, and whether one of them was longer. */
function shortened<Texts extends object>(texts: Texts): Texts & { truncated?: true } {
  const entries = Object.entries(texts as Record<string, string>);
  const shown = entries.map(([name, text]) => [name, startOf(text.toWellFormed(), longestText)]);
  const truncated = entries.some(([, text]) => codePoints(text) > longestText);
  return { ...(Object.fromEntries(shown) as Texts), ...(truncated && { truncated }) };
}

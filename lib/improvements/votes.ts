/**
 * A prompt is adopted only if an edit without an effect would get such votes with a probability below this limit. Without an
 * effect, the two answers of a pair can be exchanged, so each pair votes for the one prompt as probably as for the other.
 */
const significance = 0.02;

/** The number of pairs of answers that a pass compares. */
export const pairsOfPass = 10;

/** How often the reviewer compares each pair, in both orders. */
export const roundsOfVotes = 2;

/** The votes of a pair that all are for one prompt. */
export const votesOfPair = 2 * roundsOfVotes;

/**
 * Returns the probability that an edit without an effect gets at least these votes: the part of all combinations of signs
 * whose sum is at least the sum of the votes (a sign-flip permutation test). It is exact for judges that choose at random, that
 * choose by the order of the answers, and that prefer one answer of a pair for a reason that has nothing to do with the edit.
 *
 * @param votes the sum of the votes of each pair: above 0 for the new prompt, below 0 for the old one
 */
export function chanceOf(votes: readonly number[]): number {
  let chances = new Map([[0, 1]]);
  for (const vote of votes) {
    const next = new Map<number, number>();
    for (const [sum, chance] of chances)
      for (const flipped of [sum + vote, sum - vote]) next.set(flipped, (next.get(flipped) ?? 0) + chance / 2);
    chances = next;
  }
  const sum = sumOfVotes(votes);
  return [...chances].reduce((total, [reached, chance]) => (reached >= sum ? total + chance : total), 0);
}

/** Returns whether votes show that the new prompt is better. */
export function isBetter(votes: readonly number[]): boolean {
  return chanceOf(votes) < significance;
}

/** Returns the sum of the votes of all pairs. */
export function sumOfVotes(votes: readonly number[]): number {
  return votes.reduce((sum, vote) => sum + vote, 0);
}

/** The least number of pairs whose votes can show that a prompt is better, if all are for it. */
export const fewestPairs = Array.from({ length: pairsOfPass }, (_, nth) => nth + 1).find((count) =>
  isBetter(Array(count).fill(votesOfPair)),
) as number;

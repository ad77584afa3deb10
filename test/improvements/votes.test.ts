import { expect, it } from 'vitest';
import { chanceOf, fewestPairs, isBetter, pairsOfPass, sumOfVotes, votesOfPair } from '../../lib/improvements/votes.ts';
import { fc } from '../seeded.ts';

const votes = (...counts: [vote: number, times: number][]) =>
  counts.flatMap(([vote, times]) => Array<number>(times).fill(vote));

it('the chance of votes is the part of all combinations of their signs that reaches their sum', () => {
  const vote = fc.integer({ min: -votesOfPair, max: votesOfPair });
  fc.assert(
    fc.property(fc.array(vote, { maxLength: 8 }), (given) => {
      let reached = 0;
      for (let signs = 0; signs < 2 ** given.length; signs++)
        if (sumOfVotes(given.map((one, at) => ((signs >> at) & 1 ? one : -one))) >= sumOfVotes(given)) reached++;
      expect(chanceOf(given)).toBe(reached / 2 ** given.length);
    }),
  );
});

it.each<[string, number[], boolean]>([
  ['no votes', [], false],
  ['ten pairs without a preference', votes([0, 10]), false],
  ['all votes of five pairs', votes([votesOfPair, 5], [0, 5]), false],
  ['all votes of six pairs', votes([votesOfPair, 6], [0, 4]), true],
  ['all votes of nine pairs, and none of the tenth', votes([votesOfPair, 9], [-votesOfPair, 1]), true],
  ['all votes of eight pairs, and none of two', votes([votesOfPair, 8], [-votesOfPair, 2]), false],
  ['half of the votes of six pairs', votes([2, 6]), true],
  ['all votes against', votes([-votesOfPair, 10]), false],
])('%s: %j are enough: %s', (_, given, expected) => {
  expect(isBetter(given)).toBe(expected);
});

it('six pairs are the fewest that can show a better prompt', () => {
  expect([fewestPairs, pairsOfPass]).toEqual([6, 10]);
});

it('the chance that ten pairs which vote at random are enough is below 2 %', () => {
  let adopted = 0;
  for (let signs = 0; signs < 2 ** pairsOfPass; signs++)
    if (isBetter(Array.from({ length: pairsOfPass }, (_, at) => ((signs >> at) & 1 ? votesOfPair : -votesOfPair))))
      adopted++;
  expect(adopted / 2 ** pairsOfPass).toBeLessThan(0.02);
});

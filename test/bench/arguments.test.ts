import { expect, it } from 'vitest';
import { readArguments } from './arguments.ts';

const namesOf = (args: string[]) => readArguments(args).chosen.map(({ name }) => name);

it('measures peers only by their name, since they are programs of others', () => {
  expect(namesOf([])).toEqual(['goals', 'lists', 'writers']);
  expect(namesOf(['--quick'])).toEqual(['goals', 'lists', 'writers']);
  expect(namesOf(['peers'])).toEqual(['peers']);
  expect(namesOf(['peers', 'goals'])).toEqual(['goals', 'peers']);
});

it('rejects unknown parts, and another checkout for any part but the goals', () => {
  expect(() => readArguments(['outpost'])).toThrow(/^There is no part "outpost"\.\nUsage: /);
  expect(() => readArguments(['peers', '--beside', '../other'])).toThrow(/^--beside is for the part goals only\./);
});

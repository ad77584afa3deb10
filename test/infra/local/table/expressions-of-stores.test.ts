import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { randomFrom } from '../../../soak/random.ts';
import { generateCommand } from './generated-commands.ts';

const lib = join(import.meta.dirname, '../../../../lib');

/** All functions and keywords of DynamoDB's expressions, and the parameters of commands. */
const patterns = {
  functions:
    /\b(attribute_exists|attribute_not_exists|attribute_type|begins_with|contains|size|if_not_exists|list_append)\(/g,
  keywords: /\b(AND|OR|NOT|BETWEEN|SET|REMOVE|ADD|DELETE|IN(?= ?\())\b/g,
  paths: /#\w+(\.|\[)[#\w]/g,
};

type Feature = keyof typeof patterns;

/** Returns the features of the texts of expressions, such as `contains`. */
function featuresIn(texts: readonly string[]): Record<Feature, Set<string>> {
  const found = (feature: Feature) =>
    new Set(texts.flatMap((text) => [...text.matchAll(patterns[feature])].map(([, name = '']) => name)));
  return { functions: found('functions'), keywords: found('keywords'), paths: found('paths') };
}

/** Returns the texts between quotes in a source. */
const textsIn = (source: string) => source.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? [];

/** Returns the operations that a source sends. */
const operationsIn = (source: string) => [
  ...[...source.matchAll(/new (\w+)Command\(/g)].map(([, name = '']) => name),
  ...[...source.matchAll(/\bpaginate(\w+)\(/g)].map(([, name = '']) => name),
];

const sources = ['table', 'reconcile'].flatMap((folder) =>
  globSync(`${lib}/${folder}/**/*.ts`).map((path) => readFileSync(path, 'utf8')),
);

/** The commands that the tests against other engines send. */
const random = randomFrom(1);
const generated = Array.from({ length: 3_000 }, () => generateCommand(random)('table'));

it('the commands that are compared with other engines have all operations that stores send', () => {
  const names = new Set(generated.map((command) => command.constructor.name.replace('Command', '')));
  expect(names).toEqual(new Set(sources.flatMap(operationsIn)));
});

it('the commands that are compared with other engines have all functions and keywords in the expressions of stores', () => {
  const ofStores = featuresIn(sources.flatMap(textsIn));
  const compared = featuresIn(generated.flatMap(({ input }) => textsIn(JSON.stringify(input).replaceAll('"', "'"))));
  expect(compared).toEqual(ofStores);
});

import { expect, it } from 'vitest';
import { functionSources } from '../../../../infra/aws/bundle.ts';
import { functionVariables } from '../../../../infra/aws/functions/function-variables.ts';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import { parseSettings, variablesOf, withDefaultModel } from '../../../../infra/aws/settings.ts';
import { fileNameOf } from '../../../../lib/contract/routes.ts';
import { type Consumer, consumers } from '../../../../lib/names/consumers.ts';
import { environment } from '../../../../lib/names/environment.ts';
import { queues } from '../../../../lib/names/queues.ts';
import { synthesized } from '../synthesized.ts';

/** The most bytes of environment variables of a function (AWS Lambda Developer Guide, "Lambda quotas"). */
const lambdaLimit = 4_096;

/** Settings with the longest list of models that is accepted, and with all other texts. */
function longestTexts() {
  const defaultModel = 'm'.repeat(100);
  const texts = { modelRegion: 'ap-southeast-2', corsOrigins: ['https://a.example'], dailyTokens: 1, defaultModel };
  const isAccepted = (allowedModels: string[]) => {
    try {
      return parseSettings({ ...texts, allowedModels }, 'test.json');
    } catch {
      return undefined;
    }
  };
  const allowedModels = [defaultModel];
  while (isAccepted([...allowedModels, 'x'])) allowedModels.push('x');
  return { ...texts, allowedModels };
}
const texts = longestTexts();

const { functions, logicalId } = synthesized(texts);
const variablesIn = (id: string): Record<string, unknown> => functions[logicalId(id)]?.Properties.Environment.Variables;

/** The functions by their sources: the id of the construct of each, and the variables of the queues that it sends to. */
const rows = functionSources().map((source) => {
  const file = source.split('/').at(-1)?.replace('.ts', '');
  const [name, { sendsTo }] = Object.entries(consumers as Record<string, Consumer>).find(
    ([name]) => fileNameOf(name) === file,
  ) ?? [file?.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) ?? '', { sendsTo: [] }];
  return { source, id: constructIdOf(name), urls: sendsTo.map((queue) => queues[queue].urlVariable) };
});

it.each(rows)('$id has exactly the variables that it reads, and the URLs of the queues that it sends to', (row) => {
  const read = functionVariables[row.source]?.map((name) => environment[name]) ?? [];
  expect(Object.keys(variablesIn(row.id)).sort()).toEqual(['NODE_OPTIONS', ...read, ...row.urls].sort());
});

it('half of the functions have at most five variables, and only the health check has all settings', () => {
  const counts = rows
    .filter(({ id }) => id !== 'Health')
    .map(({ id }) => Object.keys(variablesIn(id)).length)
    .sort((a, b) => a - b);
  expect(counts[Math.floor(counts.length / 2)]).toBeLessThanOrEqual(5);
  const settings = variablesOf(withDefaultModel(parseSettings(texts, 'test.json'), undefined));
  expect(counts.at(-1)).toBeLessThan(Object.keys(settings).length);
});

/** Returns the longest value of a variable: the name of a table, the URL of a queue, or the ARN of a key. */
const longest = (value: unknown) =>
  typeof value === 'string' ? value : 'x'.repeat(JSON.stringify(value).includes('GlobalTable') ? 255 : 150);

it('the longest texts that the settings accept fit into every function, also into one that would read all settings', () => {
  const settings = variablesOf(withDefaultModel(parseSettings(texts, 'test.json'), undefined));
  const sizes = rows.map(({ id }) => {
    const variables = { ...settings, ...variablesIn(id), [environment.serviceName]: 's'.repeat(64) };
    return Object.entries(variables)
      .flatMap(([name, value]) => name + longest(value))
      .join('').length;
  });
  expect(Math.max(...sizes)).toBeLessThanOrEqual(lambdaLimit);
  expect(Math.max(...sizes)).toBeGreaterThan(lambdaLimit / 2);
});

import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../infra/aws/settings.ts';
import type { DataFolder } from '../../infra/local/data-folder.ts';
import { functionEnvironment } from '../../infra/local/function-environment.ts';
import { readLocalSettings } from '../../infra/local/settings.ts';
import { consumers } from '../../lib/names/consumers.ts';
import { maxReceiveCount } from '../../lib/names/queues.ts';
import { numberSettings } from '../../lib/settings/number-settings.ts';
import { pollingOf } from '../../lib/settings/polling.ts';
import { synthesized } from '../infra/aws/synthesized.ts';
import { sectionOf } from './markdown.ts';

const pageOf = (name: string) => readFileSync(`docs/${name}.md`, 'utf8');
const [deploying, runbook, architecture, local] = ['deploying', 'runbook', 'architecture', 'local-service'].map(
  pageOf,
) as [string, string, string, string];

const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** Returns the columns of the rows of a table in a text. */
const rowsOf = (text: string) =>
  [...text.matchAll(/^\|(.*)\|$/gm)].map(([, row = '']) => row.split(/(?<!\\)\|/).map((text) => text.trim()));

describe('the defaults of settings', () => {
  it('are those of the page on deploying', () => {
    const given = parseSettings({}, 'settings/default.json') as Record<string, unknown>;
    const rows = rowsOf(sectionOf(deploying, '## Settings')).flatMap(([names = '', defaults = '']) => {
      const each = names.match(/(?<=`)\w+(?=`)/g) ?? [];
      const values = [...defaults.matchAll(/`([^`]+)`/g)].map(([, value]) => value);
      return each.map((name, nth) => [name, values[nth]] as const);
    });
    const documented = new Map(rows);
    const expected = Object.entries(given).filter(([, value]) => typeof value !== 'object' || Array.isArray(value));
    expect(expected.length).toBeGreaterThan(15);
    expect(expected.map(([name]) => [name, documented.get(name)])).toEqual(
      expected.map(([name, value]) => [name, Array.isArray(value) ? `[${value.join(', ')}]` : String(value)]),
    );
  });

  it('are those of the page on the local service', () => {
    const variables = functionEnvironment(readLocalSettings({}), { folder: '' } as DataFolder);
    const documented = new Map(
      rowsOf(sectionOf(local, '## Settings of the local service')).map(([name, value]) => [name, value]),
    );
    for (const row of Object.values(numberSettings)) {
      const standard = variables[row.variable] ?? ('standard' in row ? row.standard : 'no limit');
      expect([row.variable, documented.get(`\`${row.variable}\``)?.replaceAll('`', '')]).toEqual([
        row.variable,
        String(standard),
      ]);
    }
  });

  it('are those of the list of limits', () => {
    const { standard } = { standard: parseSettings({}, 'settings/default.json') };
    const { requestsPerMinute, executionsPerMinute, callsOutPerMinute, runningCap, waitingLimitMinutes } = standard;
    const { executionMinutes, executionSteps, executionTokens, failingDays } = standard;
    const limits = new Map(rowsOf(sectionOf(architecture, '## Limits')).map(([what, limit]) => [what, limit]));
    const setting = (value: number, unit = '') => `${value.toLocaleString('en')}${unit} (setting)`;
    expect(Object.fromEntries(limits)).toMatchObject({
      'Request rate of an organization': setting(requestsPerMinute, ' a minute'),
      'Requests of an organization that call receivers or models': setting(callsOutPerMinute, ' a minute'),
      'Started executions of an organization': setting(executionsPerMinute, ' a minute'),
      'Running executions of an organization': setting(runningCap),
      'Wait of an execution for its first lease': setting(waitingLimitMinutes, ' minutes'),
      'Duration of an execution, from its first lease': setting(executionMinutes, ' minutes'),
      'Steps of an execution': setting(executionSteps),
      'Tokens of the steps of an execution': setting(executionTokens),
      'Days in which all deliveries fail before a webhook is paused': setting(failingDays),
    });
  });
});

describe('the numbers of the stack', () => {
  const { propertiesOf } = synthesized();
  const retentions = propertiesOf('AWS::SQS::Queue').map(
    ({ MessageRetentionPeriod }) => MessageRetentionPeriod / 86_400,
  );

  it('are the days that queues keep messages and dead letters', () => {
    const [letters = 0, messages = 0, ...others] = [...new Set(retentions)].sort((one, other) => other - one);
    expect(others).toEqual([]);
    expect(runbook).toContain(`queues keep messages for ${words[messages]} days.`);
    expect(runbook).toContain(`**Dead letters are deleted ${letters} days after the message was first sent**`);
  });

  it('are the jobs of the sweeper, and the receives of a message before it is a dead letter', () => {
    expect(runbook).toContain(`Each of its ${words[consumers.sweepOverdue.sources.length]} jobs is a call of its own`);
    expect(runbook).toContain(`After ${words[maxReceiveCount]} receives they are [dead letters](#dead-letters)`);
    expect(architecture).toContain(`messages that failed ${words[maxReceiveCount]} times`);
  });

  it('are the shares of the queues', () => {
    const polling = pollingOf(1_000);
    const shares = rowsOf(sectionOf(deploying, '### How many messages are processed at the same time'));
    const documented = shares.flatMap(([names = '', , concurrency = '', batch]) =>
      (names.match(/(?<=`)\w+(?=`)/g) ?? []).map(
        (name) => [name, Number.parseInt(concurrency, 10), Number(batch)] as const,
      ),
    );
    expect(documented.toSorted()).toEqual(
      Object.entries(polling)
        .map(([name, { concurrency, batchSize }]) => [name, concurrency, batchSize])
        .toSorted(),
    );
  });
});

it('only the end of the page on deploying says what was not tried in an account', () => {
  const end = deploying.slice(0, deploying.indexOf('\n## Seen only in a real account\n'));
  expect(end.length).toBeLessThan(deploying.length);
  const pages = [...globSync(['README.md', 'docs/*.md', 'docs/decisions/*.md'], { exclude: ['docs/deploying.md'] })];
  const texts = [
    ...pages.map((page) => [page, readFileSync(page, 'utf8')] as const),
    ['docs/deploying.md', end] as const,
  ];
  expect(texts.length).toBeGreaterThan(20);
  const saying =
    /\b(?:not|never|neither\b[^.]*)\s+(?:been\s+)?(?:tried|tested|seen)\s+in\s+an\s+(?:AWS\s+)?account|only in a real account$/im;
  expect(texts.flatMap(([page, text]) => (saying.test(text.replaceAll(/\(#[^)]*\)/g, '')) ? [page] : []))).toEqual([]);
});

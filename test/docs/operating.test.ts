import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingNames } from '../../infra/aws/settings.ts';
import { metricUnits } from '../../lib/names/metrics.ts';
import manifest from '../../package.json' with { type: 'json' };
import { priceList } from '../costs/prices.ts';
import { monthAtRest, resourcesAtRest } from '../costs/workflows.ts';
import { synthesized } from '../infra/aws/synthesized.ts';

const pages = Object.fromEntries(
  ['README.md', 'CONTRIBUTING.md', 'docs/agents.md', 'docs/deploying.md', 'docs/runbook.md'].map((page) => [
    page,
    readFileSync(page, 'utf8'),
  ]),
);
const deploying = pages['docs/deploying.md'] as string;
const runbook = pages['docs/runbook.md'] as string;

/** The alarms of the stack, whose messages link to these sections. */
const stack = synthesized();
const alarms = stack.propertiesOf('AWS::CloudWatch::Alarm').map(({ AlarmName }) => AlarmName.replace('Crewboard ', ''));

describe('the page on deploying', () => {
  it('lists every setting, and no other', () => {
    const rows = deploying.slice(deploying.indexOf('| Setting |'), deploying.indexOf('Pages in browsers'));
    const listed = [...rows.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
    expect(listed.sort()).toEqual(settingNames.toSorted());
  });

  it('has the computed cost of a month at rest', () => {
    const [all, beyondFree] = [false, true].map((free) => monthAtRest({ free }).toFixed(2));
    expect(deploying.replaceAll(/\s+/g, ' ')).toContain(
      `: $${all} at list prices of ${priceList.region}, of which $${beyondFree} are left`,
    );
  });

  it('has the number of custom metrics that are not written at rest', () => {
    const filters = stack.propertiesOf('AWS::Logs::MetricFilter');
    const ofLogs = new Set(filters.map(({ MetricTransformations: [to] }) => to?.MetricName));
    const more = Object.keys(metricUnits).length + ofLogs.size - resourcesAtRest.metrics;
    expect(deploying).toContain(`| ${more} more custom metrics, and one for each model,`);
  });
});

describe('the runbook', () => {
  it.each(alarms)('has the symptom, the cause, the fix and the end of %s, with a command', (alarm) => {
    const [, section = ''] = runbook.split(`\n## ${alarm}\n`);
    const [own = ''] = section.split('\n## ');
    for (const part of ['**Symptom:**', '**Find the cause:**', '**Fix', '**Over when:**']) expect(own).toContain(part);
    expect(own).toMatch(/```sh\n/);
  });
});

describe.each(Object.entries(pages))('%s', (_, page) => {
  it('names only existing commands', () => {
    const commands = [...page.matchAll(/npm run (?:--silent )?([a-z][\w:-]*)/g)].map(([, command]) => command);
    expect(commands.length).toBeGreaterThan(0);
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(commands));
  });
});

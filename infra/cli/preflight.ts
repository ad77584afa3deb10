import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Consumer, consumers, type Source } from '../../lib/contract/consumers.ts';
import { pollingOf } from '../../lib/contract/polling.ts';
import { type Settings, stackNameOf } from '../aws/settings.ts';
import { command } from './command.ts';
import { type Finding, shownFindings } from './finding.ts';
import { findAccount, findBootstrap, findConcurrency, findStack } from './preflight-account.ts';
import { askModel, findModel } from './preflight-model.ts';
import { findInSettings } from './preflight-settings.ts';

/** `npm run preflight`: what would make a deploy fail, or the service not work, and what to do about each. */
export const preflight = command(
  'preflight',
  'Tell what would make a deploy fail, and what to do about it; in AWS only',
  'npm run --silent preflight -- -c alarmEmail=you@example.com --ask',
)
  .description(
    'Tell what would make a deploy fail, or the service not work, and what to do about each. In AWS only, with the credentials and the region of this shell.',
  )
  .addOption(
    new Option('-c, --context <name=value>', 'a setting, as cdk deploy is given it; repeat it for more')
      .argParser(readSetting)
      .default({}, 'what cdk.json says'),
  )
  .option('--ask', 'ask the default model for one token, which costs a fraction of a cent')
  .action(async ({ context, ask }) => {
    const findings = await find(context, ask ?? false);
    if (findings.some(({ state }) => state === 'problem')) process.exitCode = 1;
    console.log(shownFindings(findings));
  });

function readSetting(text: string, before: Record<string, string>): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be as name=value.');
  return { ...before, [name]: value };
}

async function find(given: Record<string, string>, ask: boolean): Promise<Finding[]> {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };
  const { settings, findings } = findInSettings({ ...context, ...given }, Object.keys(given));
  const { account, finding } = await findAccount();
  if (!account || !settings) return [...findings, finding];
  const choice = { model: settings.defaultModel, region: settings.modelRegion ?? account.region };
  const found = await Promise.all([
    findBootstrap(account),
    findStack(stackNameOf(settings)),
    findConcurrency(callsAtOnce(settings)),
    findModel(choice),
    ...(ask ? [askModel(choice)] : []),
  ]);
  return [...findings, finding, ...found];
}

/** How many calls of functions the stream, the queues and the clock make at the same time, at most. */
function callsAtOnce({ lambdaConcurrency, queues }: Settings): number {
  const polling = pollingOf(lambdaConcurrency, queues);
  const sources: Source[] = Object.values<Consumer>(consumers).flatMap((consumer) => consumer.sources);
  return sources.reduce((sum, source) => sum + ('queue' in source ? polling[source.queue].concurrency : 1), 0);
}

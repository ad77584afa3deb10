import { readFileSync } from 'node:fs';
import { type Consumer, consumers } from '../../lib/contract/consumers.ts';
import { stackNameOf } from '../aws/settings.ts';
import { Problem } from '../local/problem.ts';
import { readArguments, runCommand } from './command.ts';
import { type Finding, shownFindings } from './finding.ts';
import { findAccount, findBootstrap, findConcurrency, findStack } from './preflight-account.ts';
import { askModel, findModel } from './preflight-model.ts';
import { findInSettings } from './preflight-settings.ts';

const usage = `Usage, with the credentials and the region that will deploy:
  npm run --silent preflight -- [-c name=value …] [--ask]
-c sets what cdk deploy -c sets. --ask asks the default model for one token, which costs a fraction of a cent.`;

const options = {
  context: { type: 'string', short: 'c', multiple: true },
  ask: { type: 'boolean', default: false },
} as const;

/** `npm run preflight`: what would make a deploy fail, or the service not work, and what to do about each. */
async function main(args: string[]): Promise<string> {
  const { positionals, values } = readArguments(args, options, usage);
  if (positionals.length > 0) throw new Problem(usage);
  const given = Object.fromEntries((values.context ?? []).map(pair));
  const findings = await find(given, values.ask);
  if (findings.some(({ state }) => state === 'problem')) process.exitCode = 1;
  return shownFindings(findings);
}

function pair(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new Problem(`-c takes name=value, not ${text}.\n${usage}`);
  return [name, value];
}

async function find(given: Record<string, string>, ask: boolean): Promise<Finding[]> {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };
  const { settings, findings } = findInSettings(
    { ...context, ...given },
    Object.keys(given),
    paceOf(consumers.runExecution),
  );
  const { account, finding } = await findAccount();
  if (!account || !settings) return [...findings, finding];
  const choice = { model: settings.defaultModel, region: settings.modelRegion ?? account.region };
  const rows: Consumer[] = Object.values(consumers);
  const found = await Promise.all([
    findBootstrap(account),
    findStack(stackNameOf(settings)),
    findConcurrency(rows.map(paceOf).reduce((sum, pace) => sum + pace)),
    findModel(choice),
    ...(ask ? [askModel(choice)] : []),
  ]);
  return [...findings, finding, ...found];
}

/** How many calls of a function its sources make at once. */
function paceOf({ sources }: Consumer): number {
  return sources.reduce((sum, source) => sum + ('concurrency' in source ? source.concurrency : 1), 0);
}

runCommand(main);

import { stackNameOf } from '../../aws/settings.ts';
import { command } from '../command.ts';
import { findAccount, findBootstrap, findStack } from '../preflight/account-checks.ts';
import { findData } from '../preflight/data-checks.ts';
import { type Finding, shownFindings } from '../preflight/finding.ts';
import { findModels, type ModelOptions } from '../preflight/model-checks.ts';
import { findConcurrency } from '../preflight/quota-check.ts';
import { findDoubtfulSettings, findSettings } from '../preflight/settings-checks.ts';

/** `npm run preflight`: what would make a deploy fail, or the service not work, and what to do about each. */
export const preflight = command(
  'preflight',
  'Tell what would make a deploy fail, and what to do about it; in AWS only',
  'npm run --silent preflight -- --stage prod --ask',
)
  .description(
    'Tell what would make a deploy fail, or the service not work, and what to do about each. In AWS only, with the credentials and the region of this shell.',
  )
  .option('--stage <name>', 'the stage, as cdk deploy is given it by -c stage=name (default: settings/default.json)')
  .option('--model <model>', 'check this model instead of the default model and the allowed ones')
  .option('--ask', 'also call each checked model, which costs a fraction of a cent')
  .action(async ({ stage, ...asked }) => {
    const findings = await find(stage, asked);
    if (findings.some(({ state }) => state === 'problem')) process.exitCode = 1;
    console.log(shownFindings(findings));
  });

async function find(stage: string | undefined, asked: ModelOptions): Promise<Finding[]> {
  const { settings, finding: read } = findSettings(stage);
  const doubts = settings ? findDoubtfulSettings(settings) : [];
  const { account, finding } = await findAccount();
  const findings = [read, ...doubts, finding];
  if (!account || !settings) return findings;
  const found = await Promise.all([
    findBootstrap(account),
    findStack(stackNameOf(settings)),
    findData(settings),
    findConcurrency(settings),
  ]);
  return [...findings, ...found.flat(), ...(await findModels(settings, account.region, asked))];
}

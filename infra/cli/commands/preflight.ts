import { stackNameOf } from '../../aws/settings.ts';
import { command, jsonOption } from '../command.ts';
import { printJson } from '../json.ts';
import { checkAccount, checkBootstrap, checkStack } from '../preflight/account-checks.ts';
import { checkBoundary } from '../preflight/boundary-check.ts';
import { checkData } from '../preflight/data-checks.ts';
import { type Finding, findingsText } from '../preflight/finding.ts';
import { checkModels, type ModelOptions } from '../preflight/model-checks.ts';
import { checkModelsInUse } from '../preflight/models-in-use.ts';
import { checkConcurrency } from '../preflight/quota-check.ts';
import { checkSettingsFile, settingsWarnings } from '../preflight/settings-checks.ts';

/** `npm run crewboard -- preflight`: finds problems that would make a deploy or the service fail, and says how to solve them. */
export const preflight = command(
  'preflight',
  'Find problems before a deploy, and how to solve them; in AWS only',
  'npm run --silent crewboard -- preflight --stage prod --ask',
)
  .description(
    'Find problems that would make a deploy or the service fail, and how to solve them. In AWS only, with the credentials and the region of this shell.',
  )
  .option('--stage <name>', 'the stage, as in cdk deploy -c stage=name (default: settings/default.json)')
  .option('--model <model>', 'check this model instead of the default model and the allowed models')
  .option(
    '--ask',
    'also call each checked model, which costs a fraction of a cent, and compare its quota with the settings',
  )
  .addOption(jsonOption())
  .action(async ({ stage, json, ...modelOptions }) => {
    const findings = await checkAll(stage, modelOptions);
    if (findings.some(({ state }) => state === 'problem')) process.exitCode = 1;
    if (json) printJson({ data: findings });
    else console.log(findingsText(findings));
  });

async function checkAll(stage: string | undefined, modelOptions: ModelOptions): Promise<Finding[]> {
  const { settings, finding: ofFile } = checkSettingsFile(stage);
  const warnings = settings ? settingsWarnings(settings) : [];
  const { account, finding: ofAccount } = await checkAccount();
  const findings = [ofFile, ...warnings, ofAccount];
  if (!account || !settings) return findings;
  const found = await Promise.all([
    checkBootstrap(account),
    checkStack(stackNameOf(settings)),
    checkData(settings),
    checkBoundary(settings, account),
    checkConcurrency(settings),
    checkModelsInUse(settings, account.region),
  ]);
  return [...findings, ...found.flat(), ...(await checkModels(settings, account.region, modelOptions))];
}

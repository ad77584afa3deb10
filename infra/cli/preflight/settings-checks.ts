import { pollingOf } from '../../../lib/settings/polling.ts';
import { type DeploySettings, readStackSettings, settingsFileOf, stackNameOf } from '../../aws/settings.ts';
import type { Finding } from './finding.ts';

/** Reads the settings of a stage as the stack does, and checks that they are valid. */
export function checkSettingsFile(
  stage: string | undefined,
  folder?: string,
): { settings?: DeploySettings; finding: Finding } {
  const file = settingsFileOf(stage, folder);
  try {
    return { settings: readStackSettings(stage, folder), finding: { state: 'ok', what: `${file} is valid.` } };
  } catch (error) {
    const todo = `Correct ${file}, or name the stage of another file with --stage. docs/deploying.md lists all settings.`;
    return { finding: { state: 'problem', what: (error as Error).message, todo } };
  }
}

/** Returns warnings about valid settings that may cause problems later. */
export function settingsWarnings(settings: DeploySettings): Finding[] {
  const { stage, ephemeral, emulator, alarmEmail, alarmTopicArn, corsOrigins, runningCap, dailyTokens } = settings;
  const file = settingsFileOf(stage);
  const runsAtOnce = pollingOf(settings.lambdaConcurrency, settings.queues).executions.concurrency;
  const warnings: (Finding | false)[] = [
    ephemeral && {
      state: 'warning',
      what: 'The stack is ephemeral: its table, key and logs are deleted with it.',
      todo: `For a permanent stack, remove ephemeral from ${file}.`,
    },
    emulator && {
      state: 'warning',
      what: 'The stack is for an emulator: it lacks resources that the emulator does not support.',
      todo: `For an account, remove emulator from ${file}.`,
    },
    !alarmEmail &&
      !alarmTopicArn && {
        state: 'warning',
        what: 'Alarms have no receiver.',
        todo: `Set "alarmEmail" in ${file}, deploy, and confirm the email from AWS; or set "alarmTopicArn".`,
      },
    (corsOrigins?.includes('*') ?? false) && {
      state: 'warning',
      what: 'Web pages of every origin may call the API.',
      todo: `List the allowed origins in ${file}: "corsOrigins": ["https://board.example.com"]`,
    },
    dailyTokens === undefined && {
      state: 'warning',
      what: 'No organization has a budget of tokens, so a loop of agents can cost any amount.',
      todo: `Set "dailyTokens" in ${file}, for example to 2000000, or a budget for each organization: npm run crewboard -- settings set --org ORG --daily-tokens 2000000 --stack ${stackNameOf(settings)}`,
    },
    runningCap > runsAtOnce && {
      state: 'warning',
      what: `An organization may start ${runningCap} executions, but at most ${runsAtOnce} run at once; the others wait.`,
      todo: `Set "runningCap" in ${file} to ${runsAtOnce} or less, or raise the concurrency of executions in "queues".`,
    },
    runningCap <= runsAtOnce &&
      runningCap * 2 > runsAtOnce && {
        state: 'warning',
        what: `An organization may run ${runningCap} executions, more than half of the ${runsAtOnce} that run at once. Other organizations may wait up to ten minutes for it.`,
        todo: `Set "runningCap" in ${file} to ${Math.floor(runsAtOnce / 2)} or less, or raise the concurrency of executions in "queues".`,
      },
  ];
  return warnings.filter((warning) => warning !== false);
}

import { pollingOf } from '../../../lib/deployment/polling.ts';
import { readSettings, type Settings, settingsFileOf } from '../../aws/settings.ts';
import type { Finding } from './finding.ts';

/** Reads the settings of a stage as the stack does, and finds what cannot be used. */
export function findSettings(stage: string | undefined, folder?: string): { settings?: Settings; finding: Finding } {
  const file = settingsFileOf(stage, folder);
  try {
    return { settings: readSettings(stage, folder), finding: { state: 'ok', what: `${file} can be used.` } };
  } catch (error) {
    const todo = `Correct ${file}, or give the stage of another file by --stage; docs/deploying.md lists all settings.`;
    return { finding: { state: 'problem', what: (error as Error).message, todo } };
  }
}

/** Finds settings that can be used, but may surprise later. */
export function findDoubtfulSettings(settings: Settings): Finding[] {
  const { stage, ephemeral, emulator, alarmEmail, alarmTopicArn, corsOrigins, runningCap } = settings;
  const file = settingsFileOf(stage);
  const runsAtOnce = pollingOf(settings.lambdaConcurrency, settings.queues).executions.concurrency;
  const doubts: (Finding | false)[] = [
    ephemeral && {
      state: 'warning',
      what: 'The stack is ephemeral: its table, key and logs are deleted with it.',
      todo: `Remove ephemeral from ${file} for a stack that lasts.`,
    },
    emulator && {
      state: 'warning',
      what: 'The stack is for an emulator: what that refuses is left out.',
      todo: `Remove emulator from ${file} for an account.`,
    },
    !alarmEmail &&
      !alarmTopicArn && {
        state: 'warning',
        what: 'Nobody is told of alarms.',
        todo: `Set "alarmEmail" in ${file}, deploy, and confirm the mail that AWS sends; or set "alarmTopicArn".`,
      },
    (corsOrigins?.includes('*') ?? false) && {
      state: 'warning',
      what: 'Pages of every origin may call the API.',
      todo: `Name your origins in ${file}: "corsOrigins": ["https://board.example.com"]`,
    },
    runningCap > runsAtOnce && {
      state: 'warning',
      what: `An organization may start ${runningCap} executions, but ${runsAtOnce} at most run at once; the others wait.`,
      todo: `Set "runningCap" in ${file} to ${runsAtOnce} or less, or raise the concurrency of executions by "queues".`,
    },
    runningCap <= runsAtOnce &&
      runningCap * 2 > runsAtOnce && {
        state: 'warning',
        what: `An organization may run ${runningCap} executions, more than half of the ${runsAtOnce} that run at once: others may wait up to ten minutes for it.`,
        todo: `Set "runningCap" in ${file} to ${Math.floor(runsAtOnce / 2)} or less, or raise the concurrency of executions by "queues".`,
      },
  ];
  return doubts.filter((doubt) => doubt !== false);
}

import { pollingOf } from '../../lib/contract/polling.ts';
import { readSettings, type Settings } from '../aws/settings.ts';
import type { Finding } from './finding.ts';

/** What the context says to the stack: values by name, as `cdk.json` and `-c` give them. */
export type Context = Readonly<Record<string, unknown>>;

/**
 * Reads the settings of a stack as the stack itself will, and finds what cannot be meant.
 *
 * @param given the names that this deploy gives: those of them that are no setting would be ignored silently
 */
export function findInSettings(
  context: Context,
  given: readonly string[],
): { settings?: Settings; findings: Finding[] } {
  const known = new Set<string>();
  const tryGetContext = (name: string) => {
    known.add(name);
    return context[name];
  };
  try {
    const settings = readSettings({ tryGetContext });
    const strangers = given.filter((name) => !known.has(name) && !isOfCdk(name)).map((name) => noSetting(name, known));
    const doubts = doubtsAbout(settings);
    const fine: Finding = { state: 'ok', what: 'The settings can be used.' };
    return { settings, findings: [...(strangers.length > 0 ? strangers : [fine]), ...doubts] };
  } catch (error) {
    const todo = 'Give them by -c name=value, or in the context of cdk.json.';
    return { findings: [{ state: 'problem', what: (error as Error).message, todo }] };
  }
}

/** The CDK’s own switches and what it has looked up stand in the same context. */
function isOfCdk(name: string): boolean {
  return name.includes(':');
}

function noSetting(name: string, known: ReadonlySet<string>): Finding {
  return { state: 'problem', what: `There is no setting ${name}.`, todo: `There are ${[...known].join(', ')}.` };
}

function doubtsAbout(settings: Settings) {
  const { ephemeral, emulator, alarmEmail, alarmTopicArn, corsOrigins, runningCap } = settings;
  const runsAtOnce = pollingOf(settings.lambdaConcurrency, settings.queues).executions.concurrency;
  const doubts: (Finding | false)[] = [
    ephemeral && {
      state: 'warning',
      what: 'The stack is a throw-away one: its table, key and logs go with it.',
      todo: 'Leave out -c ephemeral for one that lasts.',
    },
    emulator && {
      state: 'warning',
      what: 'The stack is for an emulator: what that refuses is left out.',
      todo: 'Leave out -c emulator in an account.',
    },
    !alarmEmail &&
      !alarmTopicArn && {
        state: 'warning',
        what: 'Nobody is told of alarms.',
        todo: 'Give -c alarmEmail=NAME@EXAMPLE.COM, and confirm the mail that AWS sends, or -c alarmTopicArn=ARN.',
      },
    (corsOrigins?.includes('*') ?? false) && {
      state: 'warning',
      what: 'Pages of every origin may call the API.',
      todo: 'Name the origins that are yours: -c corsOrigins=https://board.example.com',
    },
    runningCap > runsAtOnce && {
      state: 'warning',
      what: `An organization may start ${runningCap} executions, but ${runsAtOnce} at most run at once; the others wait.`,
      todo: `Give -c runningCap=${runsAtOnce} or less, or raise the concurrency of executions by -c queues.`,
    },
  ];
  return doubts.filter((doubt) => doubt !== false);
}

import { resolve } from 'node:path';
import { environment } from '../../lib/deployment/environment.ts';
import { type Limits, readLimits } from '../../lib/deployment/limits.ts';
import { readRunningCap } from '../../lib/executions/executions.ts';
import { readWaitingLimit } from '../../lib/executions/runs.ts';
import { allowedReceivers } from '../../lib/webhooks/receivers.ts';
import { readRetrySchedule } from '../../lib/webhooks/retry-schedule.ts';
import { type ModelSettings, readModelSettings } from './model/model-settings.ts';
import { Problem } from './problem.ts';

/** What the environment can set of a local deployment. */
export type Settings = {
  /** Where the API listens, on 127.0.0.1; 0 takes any free port. */
  port: number;
  /** The folder of everything that is to survive a restart. */
  dataFolder: string;
  /** A table engine to use instead of the bundled one. */
  dynamodbEndpoint: string | undefined;
  /** Receivers beside public https ones. */
  allowedReceivers: string;
  /** How long after each failed attempt the next one is made, in seconds; unset: 5 minutes, 30 minutes, 2 hours. */
  retryLadder: string | undefined;
  /** How many executions of an organization may run at once; the standard number if unset. */
  runningCap: string | undefined;
  /** How many minutes an execution may wait for its first worker; the standard number if unset. */
  waitingLimit: string | undefined;
  /** What an organization may do in a minute, if it has no limits of its own. */
  limits: Limits;
  /** What answers agents. */
  model: ModelSettings;
};

/** Far more than in AWS: one machine has no other organization to protect. Programs that run away are still stopped. */
const standardLimits: Limits = { requestsPerMinute: 60_000, executionsPerMinute: 6_000 };

/**
 * Reads the settings.
 *
 * @throws `Problem` for what cannot be meant
 */
export function readSettings(variables: Readonly<Record<string, string | undefined>>): Settings {
  const port = variables.PORT ?? '3000';
  if (!/^\d+$/.test(port) || Number(port) > 65_535)
    throw new Problem(`PORT is ${JSON.stringify(port)}; set it to a number from 0 to 65535.`);
  const dynamodbEndpoint = variables[environment.dynamodbEndpoint] || undefined;
  if (dynamodbEndpoint && !/^https?:$/.test(URL.parse(dynamodbEndpoint)?.protocol ?? ''))
    throw new Problem(
      `DYNAMODB_ENDPOINT is ${JSON.stringify(dynamodbEndpoint)}; set it to a URL such as http://127.0.0.1:8000.`,
    );
  const receivers = variables[environment.allowedReceivers] ?? 'localhost:*,127.0.0.1:*';
  const retryLadder = variables[environment.retryLadder] || undefined;
  const runningCap = variables[environment.runningCap] || undefined;
  const waitingLimit = variables[environment.waitingLimit] || undefined;
  try {
    allowedReceivers(receivers);
    readRetrySchedule(retryLadder);
    readRunningCap(runningCap);
    readWaitingLimit(waitingLimit);
    readLimits(variables);
  } catch (error) {
    throw new Problem((error as Error).message);
  }
  return {
    port: Number(port),
    dataFolder: resolve(variables.CREWBOARD_DATA || '.crewboard'),
    dynamodbEndpoint,
    allowedReceivers: receivers,
    retryLadder,
    runningCap,
    waitingLimit,
    limits: { ...standardLimits, ...readLimits(variables) },
    model: readModelSettings(variables),
  };
}

import { resolve } from 'node:path';
import { environment } from '../../lib/names/environment.ts';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { type Limits, readLimits } from '../../lib/settings/limits.ts';
import { numberSettings, readNumber } from '../../lib/settings/number-settings.ts';
import { readRetrySchedule } from '../../lib/settings/retry-schedule.ts';
import { Problem } from '../problem.ts';
import { readCorsOrigins } from './cors.ts';
import { type ModelSettings, readModelSettings } from './model/model-settings.ts';
import type { Durability } from './table/file/database.ts';

/** The settings of a local deployment, which it reads from environment variables. */
export type LocalSettings = {
  /** The port of the API on 127.0.0.1; 0 stands for any free port. */
  port: number;
  /** The folder of all data that survives a restart. */
  dataFolder: string;
  /** The URL of an engine of DynamoDB that has the table instead of the data folder. */
  dynamodbEndpoint: string | undefined;
  /** Whether a change is on the disk before it is answered. */
  durability: Durability;
  /** The receivers that are allowed besides public https URLs. */
  allowedReceivers: string;
  /** The origins of web pages that may call the API. */
  corsOrigins: string;
  /** The retry schedule: the seconds from each failed attempt to the next; unset: 5 minutes, 30 minutes, 2 hours. */
  retryLadder: string | undefined;
  /** How many days bodies of attempts and their responses are kept; unset: the standard number. */
  responseDays: string | undefined;
  /** For how many days all deliveries to a webhook must fail before it is paused; unset: the standard number. */
  failingDays: string | undefined;
  /** How many executions of an organization may run at once; unset: the standard number. */
  runningCap: string | undefined;
  /** How many minutes an execution may wait for its first worker; unset: the standard number. */
  waitingLimit: string | undefined;
  /** The limits of one execution; unset: the standard ones. */
  executionSteps: string | undefined;
  executionTokens: string | undefined;
  executionMinutes: string | undefined;
  /** The limits of an organization that has none of its own. */
  limits: Limits;
  /** The model that answers for agents. */
  model: ModelSettings;
  /** How the log is written: lines for people, or JSON; unset: lines on a terminal, JSON elsewhere. */
  log: 'text' | 'json' | undefined;
};

/** Far higher than in AWS, because one machine has few organizations to protect from each other. They stop runaway programs. */
const standardLimits: Limits = { requestsPerMinute: 60_000, executionsPerMinute: 6_000, callsOutPerMinute: 3_000 };

/**
 * Reads the settings from environment variables.
 *
 * @param args the arguments of the program: none, or `--port` with the port, which is then not read from `PORT`
 * @throws `Problem` for an invalid value, and for another argument
 */
export function readLocalSettings(
  variables: Readonly<Record<string, string | undefined>>,
  args: readonly string[] = [],
): LocalSettings {
  const givenPort = /^--port[= ](\S+)$/.exec(args.join(' '))?.[1];
  if (args.length > 0 && givenPort === undefined)
    throw new Problem(
      `${JSON.stringify(args.join(' '))} has no effect; there is only --port, and environment variables, as in PORT=8080 npm start (docs/local-service.md).`,
    );
  const port = givenPort ?? variables.PORT ?? '3000';
  if (!/^\d+$/.test(port) || Number(port) > 65_535)
    throw new Problem(
      `${givenPort === undefined ? 'PORT' : '--port'} is ${JSON.stringify(port)}; set it to a number from 0 to 65535.`,
    );
  const dynamodbEndpoint = variables[environment.dynamodbEndpoint] || undefined;
  if (dynamodbEndpoint && !/^https?:$/.test(URL.parse(dynamodbEndpoint)?.protocol ?? ''))
    throw new Problem(
      `DYNAMODB_ENDPOINT is ${JSON.stringify(dynamodbEndpoint)}; set it to a URL such as http://127.0.0.1:8000.`,
    );
  const receivers = variables[environment.allowedReceivers] ?? 'localhost:*,127.0.0.1:*';
  const corsOrigins = variables.CORS_ORIGINS ?? 'http://localhost:*,http://127.0.0.1:*';
  readCorsOrigins(corsOrigins);
  const retryLadder = variables[environment.retryLadder] || undefined;
  const responseDays = variables[environment.responseDays] || undefined;
  const failingDays = variables[environment.failingDays] || undefined;
  const runningCap = variables[environment.runningCap] || undefined;
  const waitingLimit = variables[environment.waitingLimit] || undefined;
  const executionSteps = variables[environment.executionSteps] || undefined;
  const executionTokens = variables[environment.executionTokens] || undefined;
  const executionMinutes = variables[environment.executionMinutes] || undefined;
  try {
    readAllowedReceivers(receivers);
    readRetrySchedule(retryLadder);
    for (const row of Object.values(numberSettings)) readNumber(row, variables);
  } catch (error) {
    throw new Problem((error as Error).message);
  }
  return {
    port: Number(port),
    dataFolder: resolve(variables.CREWBOARD_DATA || '.crewboard'),
    dynamodbEndpoint,
    durability: readDurability(variables.DURABILITY || 'full'),
    allowedReceivers: receivers,
    corsOrigins,
    retryLadder,
    responseDays,
    failingDays,
    runningCap,
    waitingLimit,
    executionSteps,
    executionTokens,
    executionMinutes,
    limits: { ...standardLimits, ...readLimits(variables) },
    model: readModelSettings(variables),
    log: readLogFormat(variables.LOG || undefined),
  };
}

function readDurability(text: string): Durability {
  if (text !== 'full' && text !== 'normal')
    throw new Problem(`DURABILITY is ${JSON.stringify(text)}; set it to full or normal, or leave it unset.`);
  return text;
}

function readLogFormat(text: string | undefined): LocalSettings['log'] {
  if (text !== undefined && text !== 'text' && text !== 'json')
    throw new Problem(`LOG is ${JSON.stringify(text)}; set it to text or json, or leave it unset.`);
  return text;
}

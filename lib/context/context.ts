import { randomUUID } from 'node:crypto';
import type { QueueContext, QueueSender } from '../aws/queue.ts';
import type { SecretsContext } from '../aws/secrets.ts';
import { readAllowedModels, standardModel } from '../contract/agents/models.ts';
import { ulidFrom } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { environment } from '../names/environment.ts';
import type { QueueName } from '../names/queues.ts';
import type { ConnectionsOfWebhooks } from '../sender/kept-connections.ts';
import type { SenderContext } from '../sender/sender.ts';
import { type StartTimer, startTimer } from '../sender/timer.ts';
import { type AllowedReceivers, readAllowedReceivers } from '../settings/allowed-receivers.ts';
import { type AttemptLimits, readAttemptLimits } from '../settings/attempt-limits.ts';
import { type AllowedOrigins, readAllowedOrigins } from '../settings/cors.ts';
import { type ExecutionLimits, type Limits, readExecutionLimits, readLimits } from '../settings/limits.ts';
import { numberSettings, readNumber } from '../settings/number-settings.ts';
import { type RetrySchedule, readRetrySchedule } from '../settings/retry-schedule.ts';
import type { Batchers } from '../table/access/batchers.ts';
import { openTable, type Table } from '../table/access/client.ts';
import type { PreparedAgent } from '../table/agents/prepared-agents.ts';
import type { EventCheckContext } from '../table/deliveries/event-checks.ts';
import { createLogClock, createStampClock, type LogClock } from '../table/events/log-clock.ts';
import type { StoredToken } from '../table/organizations/tokens.ts';
import { type Log, log } from './log.ts';
import type { RequestCounts } from './request-counts.ts';

/** A token that was read. The times are Unix times, in ms. */
export type CachedToken = {
  token: StoredToken;
  /** Until when the token is cached. */
  until: number;
  /** The time from which on its next use is noted in the table. */
  nextUseAt: number;
};

/** The attempts of one webhook in this process: the number of running attempts, and the waiting ones. */
type WebhookAttempts = { running: number; slow: boolean; waiting: ((starts: boolean) => void)[] };

/**
 * The first argument of the functions of the service: the table and the queues, the clock, the settings, and the state that
 * a process keeps from one request to the next.
 */
export type Context = {
  /** The environment variables of the deployment. */
  variables: Readonly<Record<string, string | undefined>>;
  table: Table;
  /** The functions that join the calls of one turn of the event loop into requests to the table. */
  batchers: Batchers;
  /** The senders of queues. A missing one is created for the queue of SQS that the environment names. */
  queues: Map<QueueName, QueueSender>;
  /** The clients of AWS that this process has created; the modules that call AWS fill it. */
  clients: QueueContext['clients'] & SecretsContext['clients'];
  /** The keys of secrets that this process has read, by the paths of their files. */
  secretKeys: SecretsContext['secretKeys'];
  /** The secrets that this process has decrypted lately. */
  decryptedSecrets: SecretsContext['decryptedSecrets'];
  /**
   * Unix time, in ms. It can be set forward or back: durations come from `monotonic`. If the process owns its logs, a reading
   * also notes a step in `logClock`.
   */
  clock: () => number;
  /** Milliseconds since a fixed moment. It cannot be set. */
  monotonic: () => number;
  /** Whether this is the only process that publishes events and serves followers. */
  ownsLogs: boolean;
  /** The clock of the event log in this process, which never goes back. */
  logClock: LogClock;
  /** Returns a new ULID of the time of the clock. */
  ulid: () => string;
  log: Log;
  /** The model of agents that name none, in organizations that set none. */
  defaultModel: string;
  /** The models that agents may name; `undefined` if every model is allowed. */
  allowedModels: readonly string[] | undefined;
  /** The limits of organizations that have none of their own. */
  limits: Partial<Limits>;
  /** How many executions of an organization may run at the same time. */
  runningCap: number;
  /** How long an execution may wait for its first worker, in milliseconds. */
  waitingLimitMs: number;
  /** The limits of one execution. */
  executionLimits: ExecutionLimits;
  /** Waits until the time is over or the signal aborts. */
  pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** The minute in which this process last counted a start of an execution, by organization. */
  startMinutes: Map<Organization, number>;
  /** Until when executions of an organization are listed as version 0.2.0 did it; absent on one machine. */
  formerLists: Map<Organization, number> | undefined;
  /** The receivers that the operator allows in addition to public ones. */
  allowedReceivers: AllowedReceivers;
  /** The origins of web pages that may call the API. */
  allowedOrigins: AllowedOrigins;
  /** The waits between the attempts of a delivery. */
  retrySchedule: RetrySchedule;
  /** How many days bodies and responses of attempts are kept. */
  responseDays: number;
  /** For how long all deliveries to a webhook must fail before it is paused, in milliseconds. */
  failingAfterMs: number;
  /** The limits of the concurrent attempts of one webhook. */
  attemptLimits: AttemptLimits;
  /** The attempts that this process makes, by the id of their delivery and their number. */
  attemptsInProgress: Map<string, Promise<unknown>>;
  /** The attempts that run and wait in this process, by the id of their webhook. */
  webhookAttempts: Map<string, WebhookAttempts>;
  /** The attempts of this turn of the event loop that take permits, or book times, of their webhooks. */
  timeRequests: Map<string, (request: unknown) => Promise<number | undefined>>;
  /** The connections to receivers that attempts leave to one another, by the id of their webhook. */
  keptConnections: ConnectionsOfWebhooks;
  /** When the checks of events are due that this process has planned (Unix time, in ms). */
  plannedChecks: EventCheckContext['plannedChecks'];
  startTimer: StartTimer;
  /** Resolves the names of receivers; `undefined`: the DNS servers of the system do. */
  resolve: SenderContext['resolve'];
  /** Replaces the guarded sender in tests. */
  sender: SenderContext['sender'];
  /** The requests of the organizations that this process has served lately. */
  requestCounts: RequestCounts;
  /** The access tokens that this process has read lately, by their ids. */
  cachedTokens: Map<string, CachedToken>;
  /** The versions of agents that this process has read lately. */
  preparedAgents: Map<string, PreparedAgent>;
};

/** The options of a context; the environment provides absent ones. */
export type ContextOptions = {
  environment: Readonly<Record<string, string | undefined>>;
  /** Unix time, in ms. */
  clock: () => number;
  /** Milliseconds since a fixed moment; `clock` if absent. */
  monotonic?: () => number;
  /** Whether this is the only process that publishes events and serves followers; `false` if absent. */
  ownsLogs?: boolean;
  table?: Table;
  /** The senders of queues that are not in SQS. */
  queues?: Map<QueueName, QueueSender>;
};

/** The variable with the name of the function that AWS Lambda sets. */
const inLambda = 'AWS_LAMBDA_FUNCTION_NAME';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * Creates a context.
 *
 * @throws `Error` if the environment names no table or has an invalid setting
 */
export function createContext({
  environment: variables,
  clock: machineClock,
  monotonic = machineClock,
  ownsLogs = false,
  table = openTable(required(variables, environment.tableName), variables[environment.dynamodbEndpoint]),
  queues = new Map(),
}: ContextOptions): Context {
  const logClock = createLogClock(machineClock, monotonic);
  const clock = ownsLogs ? createStampClock({ clock: machineClock, monotonic, logClock }) : machineClock;
  return {
    variables,
    table,
    batchers: {},
    queues,
    clients: {},
    secretKeys: new Map(),
    decryptedSecrets: new Map(),
    clock,
    monotonic,
    ownsLogs,
    logClock,
    ulid: () => ulidFrom(clock(), randomUlidBytes()),
    log: log(),
    defaultModel: variables[environment.defaultModel] || standardModel,
    allowedModels: readAllowedModels(variables[environment.allowedModels]),
    limits: readLimits(variables),
    runningCap: readNumber(numberSettings.runningCap, variables),
    waitingLimitMs: readNumber(numberSettings.waitingLimitMinutes, variables) * minuteMs,
    executionLimits: readExecutionLimits(variables),
    pause: pauseUntil,
    startMinutes: new Map(),
    formerLists: variables[inLambda] === undefined ? undefined : new Map(),
    allowedReceivers: readAllowedReceivers(variables[environment.allowedReceivers] ?? ''),
    allowedOrigins: readAllowedOrigins(variables[environment.corsOrigins] ?? ''),
    retrySchedule: readRetrySchedule(variables[environment.retryLadder] || undefined),
    responseDays: readNumber(numberSettings.responseDays, variables),
    failingAfterMs: readNumber(numberSettings.failingDays, variables) * dayMs,
    attemptLimits: readAttemptLimits(variables),
    attemptsInProgress: new Map(),
    webhookAttempts: new Map(),
    timeRequests: new Map(),
    keptConnections: new Map(),
    plannedChecks: new Map(),
    startTimer,
    resolve: undefined,
    sender: undefined,
    requestCounts: new Map(),
    cachedTokens: new Map(),
    preparedAgents: new Map(),
  };
}

/**
 * Waits until the time is over or the signal aborts. The wait of Node.js rejects with an error at an abort. Each execution
 * aborts a few waits at its end, and their errors, which no code reads, took 60 µs.
 */
function pauseUntil(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}

/**
 * Returns the 10 random bytes of a ULID: the bytes of a UUID that are all random. Node.js takes the bytes of many UUIDs from the
 * system at once. It takes the bytes of each `randomBytes` separately, which takes ten times as long.
 */
function randomUlidBytes(): Uint8Array {
  const uuid = randomUUID();
  return Buffer.from(uuid.slice(0, 8) + uuid.slice(24), 'hex');
}

let created: Context | undefined;

/** Returns the context of this process, which is created at the first call. */
export function processContext(): Context {
  created ??= createContext({ environment: process.env, clock: Date.now, monotonic: () => performance.now() });
  return created;
}

/** Creates the context of this process again, with other options. Call it before the first request. */
export function setProcessContext(options: ContextOptions): void {
  created = createContext(options);
}

function required(variables: ContextOptions['environment'], name: string): string {
  const value = variables[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

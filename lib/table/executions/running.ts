import { setBounded } from '../../contract/bounded-map.ts';
import { ApiError } from '../../contract/errors.ts';
import { timestamp } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { grouped } from '../../contract/shapes.ts';
import { type Limits, limitHeaders } from '../../settings/limits.ts';
import type { TableContext } from '../access/client.ts';
import { clocksDifferMs } from '../access/clocks.ts';
import { keys } from '../access/keys.ts';
import { getItem } from '../access/reads.ts';
import { Conflict, retryOnConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import type { FormerListsContext } from './former-lists.ts';

/** The part of a context that starts of executions need. */
export type StartContext = FormerListsContext & {
  /** How many executions of an organization may run at the same time. */
  runningCap: number;
  /** The limits of an organization that has none of its own: starts in a minute, tokens used in a day. */
  limits: Pick<Partial<Limits>, 'executionsPerMinute' | 'dailyTokens'>;
  /** The minute that the counter of an organization covers, as far as this process has read it. */
  startMinutes: Map<Organization, number>;
};

/** What a start begins: an execution, which is running then, or a pass of self-improvement. */
type Started = 'execution' | 'improvement';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The maximum number of organizations in `startMinutes`; beyond them it starts empty. */
const organizationsAtMost = 1_000;

/**
 * Returns the write that counts the start of an execution: the executions that are running, and the executions that were
 * started in a minute of the clock. It fails if the organization has used its tokens of the UTC day, which `countRunningDown` and
 * `countTokens` add. A pass of self-improvement counts as a start, and never as running.
 * All counters are in one item, which the transactions of each start and end update. So they are exact and need no request
 * of their own.
 *
 * An update cannot express "one more in this minute, or the first of a new minute", so there is a write for each case.
 * `startMinutes` decides which one is sent. If another process has begun the minute, the transaction is cancelled once;
 * it needs a new write from this function then.
 *
 * @param now when the execution starts (Unix time, in ms)
 */
export function countStart(
  context: StartContext,
  organization: Organization,
  now: number,
  started: Started = 'execution',
): Write {
  const { limits, startMinutes } = context;
  const { executionsPerMinute: perMinute } = limits;
  if (perMinute === undefined) return countWithoutMinute(context, organization, now, started);
  const minute = minuteOf(startMinutes, organization, now);
  const isCounted = startMinutes.get(organization) === minute;
  const budget = budgetCondition(limits.dailyTokens, now);
  const old = isCounted ? undefined : oldTokens(now);
  const slot = slotOf(context, started);
  return {
    Update: {
      Key: keys.running(organization),
      UpdateExpression: isCounted
        ? 'ADD running :running, starts :one'
        : `SET startsMinute = :minute, starts = :one ${old?.remove} ADD running :running`,
      ConditionExpression: allOf(slot.condition, budget.condition, isCounted ? mayStart : isNewMinute),
      ExpressionAttributeNames: { ...budget.names, ...old?.names },
      ExpressionAttributeValues: {
        ':one': 1,
        ':minute': minute,
        ...slot.values,
        ...(isCounted ? { ':perMinute': perMinute } : { ':latestMinute': latestMinute(now) }),
        ...budget.values,
      },
    },
    onConditionFailed: (found) => {
      const rejected = rejectionOf(found, context, now, started);
      if (rejected) return rejected;
      const counted = (found?.startsMinute as number | undefined) ?? 0;
      const limit = (found?.executionsPerMinute as number | undefined) ?? perMinute;
      noteMinute(startMinutes, organization, counted);
      if (counted === minute && (found?.starts as number) >= limit)
        return tooManyStarts(limit, (minute + 1) * minuteMs - now);
      return new Conflict();
    },
  };
}

/** Notes that a start at this moment was counted, for the next call of `countStart`. */
export function noteCountedStart({ startMinutes }: StartContext, organization: Organization, now: number): void {
  noteMinute(startMinutes, organization, minuteOf(startMinutes, organization, now));
}

/**
 * Returns the minute in which a start counts. The clock of another process may be ahead: its minute is used then, unless it
 * is further ahead than clocks differ.
 */
function minuteOf(startMinutes: StartContext['startMinutes'], organization: Organization, now: number): number {
  const known = startMinutes.get(organization) ?? 0;
  return Math.max(minuteAt(now), known > latestMinute(now) ? 0 : known);
}

const minuteAt = (time: number) => Math.floor(time / minuteMs);

/** Returns the latest minute that a clock can have now. A later minute comes from a clock that was ahead. */
const latestMinute = (now: number) => minuteAt(now + clocksDifferMs);

function noteMinute(startMinutes: StartContext['startMinutes'], organization: Organization, minute: number): void {
  setBounded(startMinutes, organization, minute, organizationsAtMost);
}

const hasRoom = 'attribute_not_exists(running) OR running < :cap';
const isNewMinute = 'attribute_not_exists(startsMinute) OR startsMinute < :minute OR startsMinute > :latestMinute';
/** The minute is counted and has room. The organization's own limit, which the command line sets, is in the item. */
const mayStart =
  'startsMinute = :minute AND (starts < executionsPerMinute OR (attribute_not_exists(executionsPerMinute) AND starts < :perMinute))';

/** Returns the condition that all of these are true. DynamoDB rejects redundant parentheses. */
function allOf(...conditions: (string | undefined)[]): string {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 1 ? (given[0] as string) : given.map((condition) => `(${condition})`).join(' AND ');
}

/** Returns the write of a start in a deployment without a limit of starts: it counts the running executions only. */
function countWithoutMinute(context: StartContext, organization: Organization, now: number, started: Started): Write {
  const budget = budgetCondition(context.limits.dailyTokens, now);
  const old = oldTokens(now);
  const slot = slotOf(context, started);
  return {
    Update: {
      Key: keys.running(organization),
      UpdateExpression: `${old.remove} ADD running :running`,
      ConditionExpression: allOf(slot.condition, budget.condition),
      ExpressionAttributeNames: { ...budget.names, ...old.names },
      ExpressionAttributeValues: { ...slot.values, ...budget.values },
    },
    onConditionFailed: (found) => rejectionOf(found, context, now, started) ?? new Conflict(),
  };
}

/** Returns what a start adds to the running executions, and the condition for that. */
function slotOf({ runningCap }: StartContext, started: Started) {
  return started === 'execution'
    ? { condition: hasRoom, values: { ':running': 1, ':cap': runningCap } }
    : { condition: undefined, values: { ':running': 0 } };
}

/**
 * Returns the name of the attribute that counts the tokens of a UTC day. Each day has an attribute of its own: so an end
 * adds its tokens without a condition, and the first end of a day needs no other write.
 */
const tokensOn = (time: number) => `tokens${timestamp(time).slice(0, 'YYYY-MM-DD'.length)}`;

/** The days before today whose tokens a start deletes. An organization that starts nothing for longer keeps a number. */
const oldDays = 7;

/** Returns the part of an update that deletes the tokens of past days. */
function oldTokens(now: number): { remove: string; names: Record<string, string> } {
  const names = Array.from(
    { length: oldDays },
    (_, at) => [`#old${at + 1}`, tokensOn(now - (at + 1) * dayMs)] as const,
  );
  return { remove: `REMOVE ${names.map(([name]) => name).join(', ')}`, names: Object.fromEntries(names) };
}

/**
 * Returns the condition that tokens of today remain. The organization's own budget, which the command line sets, is in the
 * item.
 */
function budgetCondition(dailyTokens: number | undefined, now: number) {
  const names = { '#tokens': tokensOn(now) };
  const own = 'attribute_not_exists(#tokens) OR #tokens < dailyTokens';
  return dailyTokens === undefined
    ? { condition: `${own} OR attribute_not_exists(dailyTokens)`, names, values: {} }
    : {
        condition: `${own} OR (attribute_not_exists(dailyTokens) AND #tokens < :dailyTokens)`,
        names,
        values: { ':dailyTokens': dailyTokens },
      };
}

/** Returns why an organization may start nothing now: its tokens are used, or too many executions are running. */
function rejectionOf(
  found: Item | undefined,
  { runningCap, limits: { dailyTokens } }: StartContext,
  now: number,
  started: Started,
): ApiError | undefined {
  const budget = (found?.dailyTokens as number | undefined) ?? dailyTokens;
  const used = tokensIn(found, now);
  // First, because a caller that only retries after the time for other executions to end would be rejected again.
  if (budget !== undefined && used >= budget) return tooManyTokens(budget, dayMs - (now % dayMs));
  if (started === 'execution' && ((found?.running as number | undefined) ?? 0) >= runningCap)
    return tooManyRunning(runningCap);
  return undefined;
}

const tokensIn = (found: Item | undefined, now: number) => (found?.[tokensOn(now)] as number | undefined) ?? 0;

/** Returns the tokens of an organization that were counted on the current UTC day: of executions and passes of self-improvement. */
export async function readTokensToday(
  { table }: TableContext,
  organization: Organization,
  now: number,
): Promise<number> {
  return tokensIn(await getItem(table, keys.running(organization)), now);
}

/** The limits of an organization that are in the item of its running executions. */
type StartLimit = 'executionsPerMinute' | 'dailyTokens';

/**
 * Returns the write that sets a limit of the organization's own, or removes it (`undefined`). Removing fails with `Conflict`
 * if there is none.
 */
export function ownStartLimit(organization: Organization, limit: StartLimit, value: number | undefined): Write {
  const Key = keys.running(organization);
  if (value === undefined)
    return {
      Update: { Key, UpdateExpression: `REMOVE ${limit}`, ConditionExpression: `attribute_exists(${limit})` },
      onConditionFailed: () => new Conflict(),
    };
  return {
    Update: { Key, UpdateExpression: `SET ${limit} = :value`, ExpressionAttributeValues: { ':value': value } },
  };
}

/** Returns the write that counts one running execution less, and tokens on the UTC day of a time (ISO 8601). */
export function countRunningDown(organization: Organization, tokens: number, at: string): Write {
  const hasTokens = tokens > 0;
  return {
    Update: {
      Key: keys.running(organization),
      UpdateExpression: `ADD running :minusOne${hasTokens ? ', #tokens :tokens' : ''}`,
      ...(hasTokens && { ExpressionAttributeNames: { '#tokens': tokensOn(Date.parse(at)) } }),
      ExpressionAttributeValues: { ':minusOne': -1, ...(hasTokens && { ':tokens': tokens }) },
    },
  };
}

/** Returns the write that counts tokens on the UTC day of a time (ISO 8601), and no execution. */
export function tokensOfDayWrite(organization: Organization, tokens: number, at: string): Write {
  return {
    Update: {
      Key: keys.running(organization),
      UpdateExpression: 'ADD #tokens :tokens',
      ExpressionAttributeNames: { '#tokens': tokensOn(Date.parse(at)) },
      ExpressionAttributeValues: { ':tokens': tokens },
    },
    // Only the mark of a repeated write is a condition.
    onConditionFailed: () => new Conflict(),
  };
}

/**
 * Counts the start of a pass of self-improvement.
 *
 * @throws `ApiError` `rate_limited`
 */
export async function countImprovementStart(
  context: StartContext,
  organization: Organization,
  now: number,
): Promise<void> {
  await retryOnConflict(context.table, () =>
    transact(context.table, [countStart(context, organization, now, 'improvement')]),
  );
  noteCountedStart(context, organization, now);
}

/**
 * Counts tokens of no execution on a UTC day.
 *
 * @param at a moment of that day (Unix time, in ms)
 */
export async function countTokens(
  { table }: TableContext,
  organization: Organization,
  tokens: number,
  at: number,
): Promise<void> {
  await transact(table, [tokensOfDayWrite(organization, tokens, timestamp(at))]);
}

function tooManyRunning(cap: number): ApiError {
  return new ApiError(
    'rate_limited',
    `The limit of ${cap} concurrent executions is reached; retry later or raise RUNNING_CAP.`,
    [],
    { 'Retry-After': '10' },
  );
}

function tooManyTokens(budget: number, waitMs: number): ApiError {
  return new ApiError(
    'rate_limited',
    `The organization has used its budget of ${grouped(budget)} tokens for this UTC day; retry after the time in Retry-After, or ask an operator for a higher budget.`,
    [],
    { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
  );
}

function tooManyStarts(perMinute: number, waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ApiError(
    'rate_limited',
    `The organization has started ${perMinute} executions in this minute; retry after the time in Retry-After.`,
    [],
    { 'Retry-After': String(seconds), ...limitHeaders('executions', { perMinute, remaining: 0, seconds }) },
  );
}

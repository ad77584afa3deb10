import { ApiError } from '../../contract/errors.ts';
import type { Organization } from '../../contract/organization.ts';
import { type Limits, limitHeaders } from '../../deployment/limits.ts';
import type { TableContext } from '../client.ts';
import { keys } from '../keys.ts';
import { Conflict } from '../transact.ts';
import type { Item, Write } from '../write.ts';

/** The part of a context that starts of executions need. */
export type StartContext = TableContext & {
  /** How many executions of an organization may run at the same time. */
  runningCap: number;
  /** How many executions an organization that has no limit of its own may start in a minute; any number if absent. */
  limits: Pick<Partial<Limits>, 'executionsPerMinute'>;
  /** The minute that the counter of an organization covers, as far as this process has read it. */
  startMinutes: Map<Organization, number>;
};

const minuteMs = 60_000;

/** The maximum number of organizations in `startMinutes`; beyond them it starts empty. */
const organizationsAtMost = 1_000;

/**
 * Returns the write that counts the start of an execution: the executions that are running, and those that were started
 * in a minute of the clock. Both counters are in one item, which the transaction of each start updates. So they are exact
 * and need no request of their own.
 *
 * An update cannot express "one more in this minute, or the first of a new minute", so there is a write for each case.
 * `startMinutes` decides which one is sent. If another process has begun the minute, the transaction is cancelled once;
 * it needs a new write from this function then.
 *
 * @param now when the execution starts (Unix time, in ms)
 */
export function countStart(
  { runningCap, limits: { executionsPerMinute: perMinute }, startMinutes }: StartContext,
  organization: Organization,
  now: number,
): Write {
  if (perMinute === undefined) return countRunningUp(organization, runningCap);
  const minute = minuteOf(startMinutes, organization, now);
  const isCounted = startMinutes.get(organization) === minute;
  return {
    Update: {
      Key: keys.running(organization),
      UpdateExpression: isCounted
        ? 'ADD running :one, starts :one'
        : 'SET startsMinute = :minute, starts = :one ADD running :one',
      ConditionExpression: `${hasRoom} AND ${isCounted ? `startsMinute = :minute AND ${mayStart}` : isNewMinute}`,
      ExpressionAttributeValues: {
        ':one': 1,
        ':cap': runningCap,
        ':minute': minute,
        ...(isCounted && { ':perMinute': perMinute }),
      },
    },
    onConditionFailed: (found) => {
      if (isFull(found, runningCap)) return tooManyRunning(runningCap);
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

/** Returns the minute in which a start counts. The clock of another process may be ahead: its minute is used then. */
function minuteOf(startMinutes: StartContext['startMinutes'], organization: Organization, now: number): number {
  return Math.max(Math.floor(now / minuteMs), startMinutes.get(organization) ?? 0);
}

function noteMinute(startMinutes: StartContext['startMinutes'], organization: Organization, minute: number): void {
  if (startMinutes.size >= organizationsAtMost) startMinutes.clear();
  startMinutes.set(organization, minute);
}

const hasRoom = '(attribute_not_exists(running) OR running < :cap)';
const isNewMinute = '(attribute_not_exists(startsMinute) OR startsMinute < :minute)';
/** The organization's own limit, which the command line sets, is in the item. */
const mayStart =
  '(starts < executionsPerMinute OR (attribute_not_exists(executionsPerMinute) AND starts < :perMinute))';

const isFull = (found: Item | undefined, cap: number) => ((found?.running as number | undefined) ?? 0) >= cap;

/** Returns the write that counts one more running execution, up to the cap. */
function countRunningUp(organization: Organization, cap: number): Write {
  return {
    Update: {
      Key: keys.running(organization),
      UpdateExpression: 'ADD running :one',
      ConditionExpression: hasRoom,
      ExpressionAttributeValues: { ':one': 1, ':cap': cap },
    },
    onConditionFailed: () => tooManyRunning(cap),
  };
}

/**
 * Returns the write that sets the organization's own start limit, or removes it (`undefined`). Removing fails with `Conflict`
 * if there is none.
 */
export function ownStartLimit(organization: Organization, perMinute: number | undefined): Write {
  const Key = keys.running(organization);
  if (perMinute === undefined)
    return {
      Update: {
        Key,
        UpdateExpression: 'REMOVE executionsPerMinute',
        ConditionExpression: 'attribute_exists(executionsPerMinute)',
      },
      onConditionFailed: () => new Conflict(),
    };
  return {
    Update: {
      Key,
      UpdateExpression: 'SET executionsPerMinute = :perMinute',
      ExpressionAttributeValues: { ':perMinute': perMinute },
    },
  };
}

/** Returns the write that counts one running execution less. */
export function countRunningDown(organization: Organization): Write {
  return {
    Update: {
      Key: keys.running(organization),
      UpdateExpression: 'ADD running :minusOne',
      ExpressionAttributeValues: { ':minusOne': -1 },
    },
  };
}

function tooManyRunning(cap: number): ApiError {
  return new ApiError(
    'rate_limited',
    `The limit of ${cap} concurrent executions is reached; retry later or raise RUNNING_CAP.`,
    [],
    { 'Retry-After': '10' },
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

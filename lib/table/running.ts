import { ApiError } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import { limitHeaders } from '../deployment/limits.ts';
import { keys } from './keys.ts';
import { Conflict } from './transact.ts';
import type { Item, Write } from './write.ts';

/** How many executions of an organization may run at once, and be started in a minute; `undefined`: any number. */
export type StartLimits = { running: number; perMinute?: number | undefined };

const minuteMs = 60_000;

/** The organizations of which a container knows the minute that is counted; beyond them it starts anew. */
const organizationsAtMost = 1_000;

/**
 * Opens the counters of executions: how many run, and how many were started in a minute of the clock. Both are in one
 * item, which the transaction of each start updates, so they are exact and cost no request of their own.
 *
 * An update cannot say "one more in this minute, or the first of a new minute", so there is a write for either. A
 * container takes the first where it knows that the minute is counted already. Where another container has begun the
 * minute, the transaction is cancelled once and made again.
 */
export function openStartCounts(limits: StartLimits) {
  const minutes = new Map<Organization, number>();
  const remember = (organization: Organization, minute: number) => {
    if (minutes.size >= organizationsAtMost) minutes.clear();
    minutes.set(organization, minute);
  };

  return {
    /**
     * The write that counts a start, for one transaction: where that fails as `Conflict`, the next one needs a new write.
     *
     * @param now when the execution starts, milliseconds since 1970
     */
    countUp(organization: Organization, now: number): Write {
      const { running, perMinute } = limits;
      if (perMinute === undefined) return countRunning(organization, running);
      // The clock of another container may be ahead.
      const minute = Math.max(Math.floor(now / minuteMs), minutes.get(organization) ?? 0);
      const isCounted = minutes.get(organization) === minute;
      return {
        Update: {
          Key: keys.running(organization),
          UpdateExpression: isCounted
            ? 'ADD running :one, starts :one'
            : 'SET startsMinute = :minute, starts = :one ADD running :one',
          ConditionExpression: `${hasRoom} AND ${isCounted ? `startsMinute = :minute AND ${mayStart}` : isNewMinute}`,
          ExpressionAttributeValues: {
            ':one': 1,
            ':cap': running,
            ':minute': minute,
            ...(isCounted && { ':perMinute': perMinute }),
          },
        },
        onConditionFailed: (found) => {
          if (isFull(found, running)) return tooManyRunning(running);
          const counted = (found?.startsMinute as number | undefined) ?? 0;
          const limit = (found?.executionsPerMinute as number | undefined) ?? perMinute;
          remember(organization, counted);
          if (counted === minute && (found?.starts as number) >= limit)
            return tooManyStarts(limit, (minute + 1) * minuteMs - now);
          return new Conflict();
        },
      };
    },

    /** Notes that a start at this moment was counted. */
    counted(organization: Organization, now: number): void {
      remember(organization, Math.max(Math.floor(now / minuteMs), minutes.get(organization) ?? 0));
    },
  };
}

const hasRoom = '(attribute_not_exists(running) OR running < :cap)';
const isNewMinute = '(attribute_not_exists(startsMinute) OR startsMinute < :minute)';
/** The limit of the organization's own, which the command line sets, stands in the item. */
const mayStart =
  '(starts < executionsPerMinute OR (attribute_not_exists(executionsPerMinute) AND starts < :perMinute))';

const isFull = (found: Item | undefined, cap: number) => ((found?.running as number | undefined) ?? 0) >= cap;

/** One more runs, if there is room for it. */
function countRunning(organization: Organization, cap: number): Write {
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
 * The write that gives an organization a start limit of its own, or takes that away (`undefined`): `Conflict` where there is
 * none to take away.
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

/** One less runs. */
export function countDown(organization: Organization): Write {
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
    `${cap} executions are running, as many as may at once; try again when one has ended.`,
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

import type { Table } from '../access/client.ts';
import { clocksDifferMs } from '../access/clocks.ts';
import type { Key } from '../access/keys.ts';
import { Conflict, retryOnConflict, transact } from '../access/transact.ts';

/** The shared bucket as it is stored; of versions before `reportedAt` without it. Unix times, in ms. */
type SharedBucket = { fullAt: number; reportedAt?: number };

/** A report that is further in the future is one from before a step back of the clock; in milliseconds. */
const stepMs = 1_000;

/**
 * Takes requests from the token bucket that all containers share for an organization. The bucket is stored as the time at
 * which it is full again if nothing more is taken. That time can be more than a minute away, because containers report
 * requests that they have already admitted. The organization then waits longer. The time of the latest report is stored
 * too: if the clock was set back since then, the bucket keeps the time that it needed then, and no more.
 *
 * It takes one request to the table, or two if the caller is wrong about whether the bucket is full.
 *
 * @param bucket the key of the bucket
 * @param fullAt the time at which the bucket is full again, as the caller knows it; Unix time, in ms
 * @param takesMs the time in which the bucket refills the taken requests, in milliseconds
 * @returns the time at which the bucket is full again
 */
export async function takeFromBucket(
  table: Table,
  bucket: Key,
  { fullAt, takesMs, now }: { fullAt: number; takesMs: number; now: number },
): Promise<number> {
  let known: SharedBucket = { fullAt, reportedAt: now };
  return retryOnConflict(table, async () => {
    const { set, condition, values } = takingFrom(known, takesMs, now);
    const item = await transact(table, [
      {
        Update: {
          Key: bucket,
          UpdateExpression: `SET fullAt = ${set}, reportedAt = :now`,
          ConditionExpression: condition,
          ExpressionAttributeValues: { ':now': now, ...values },
          ReturnValues: 'UPDATED_NEW',
        },
        onConditionFailed: (found) => {
          known = (found as SharedBucket | undefined) ?? { fullAt: 0 };
          return new Conflict();
        },
      },
    ]);
    return item?.fullAt as number;
  });
}

/** Returns the write that takes from a known bucket. DynamoDB has no maximum of two numbers, so each case has its own. */
function takingFrom({ fullAt, reportedAt }: SharedBucket, takesMs: number, now: number) {
  if (fullAt <= now)
    return {
      set: ':taken',
      condition: 'attribute_not_exists(fullAt) OR fullAt <= :now',
      values: { ':taken': now + takesMs },
    };
  if (reportedAt !== undefined && reportedAt <= now + stepMs)
    return {
      set: 'fullAt + :taken',
      condition: 'fullAt > :now AND reportedAt <= :latest',
      values: { ':taken': takesMs, ':latest': now + stepMs },
    };
  const emptyMs = reportedAt === undefined ? Math.min(fullAt - now, clocksDifferMs) : Math.max(0, fullAt - reportedAt);
  return {
    set: ':taken',
    condition: 'fullAt = :known',
    values: { ':taken': now + emptyMs + takesMs, ':known': fullAt },
  };
}

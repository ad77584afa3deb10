import type { Organization } from '../../contract/organization.ts';
import type { Table } from '../client.ts';
import { keys } from '../keys.ts';
import { Conflict, retryOnConflict, transact } from '../transact.ts';

/**
 * Takes requests from the token bucket that all containers share for an organization. The bucket is stored as one
 * number: the time at which it is full again if nothing more is taken. That time can be more than a minute away,
 * because containers report requests that they have already admitted. The organization then waits longer.
 *
 * It takes one request to the table, or two if the caller is wrong about whether the bucket is full.
 *
 * @param fullAt the time at which the bucket is full again, as the caller knows it; Unix time, in ms
 * @param takesMs the time in which the bucket refills the taken requests, in milliseconds
 * @returns the time at which the bucket is full again
 */
export async function takeFromBucket(
  table: Table,
  organization: Organization,
  { fullAt, takesMs, now }: { fullAt: number; takesMs: number; now: number },
): Promise<number> {
  let known = fullAt;
  return retryOnConflict(table, async () => {
    const isFull = known <= now;
    const item = await transact(table, [
      {
        Update: {
          Key: keys.requestBucket(organization),
          // DynamoDB has no maximum of two numbers, so each case has its own expression.
          UpdateExpression: isFull ? 'SET fullAt = :taken' : 'SET fullAt = fullAt + :taken',
          ConditionExpression: isFull ? 'attribute_not_exists(fullAt) OR fullAt <= :now' : 'fullAt > :now',
          ExpressionAttributeValues: { ':now': now, ':taken': isFull ? now + takesMs : takesMs },
          ReturnValues: 'UPDATED_NEW',
        },
        onConditionFailed: (found) => {
          known = (found?.fullAt as number | undefined) ?? 0;
          return new Conflict();
        },
      },
    ]);
    return item?.fullAt as number;
  });
}

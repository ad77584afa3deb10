import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { Conflict, retryOnConflict, transact } from './transact.ts';

/**
 * Takes requests out of the token bucket that all containers of an organization share. The bucket is one number: the
 * moment at which it is full again if nothing more is taken. It may become later than a full minute from now, for
 * containers report what they have let through already; the debt is then waited for.
 *
 * One request to the table, or two where the caller takes the bucket for full and it is not, or the other way round.
 *
 * @param fullAt when the bucket is full again as far as the caller knows, milliseconds since 1970
 * @param takesMs how long the bucket takes to refill what is taken, milliseconds
 * @returns when the bucket is full again
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
          // An expression has no maximum of two numbers, so there is one for each case.
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

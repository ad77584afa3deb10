import { timestamp } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { Table, TableContext } from '../access/client.ts';
import { clocksDifferMs } from '../access/clocks.ts';
import { keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';

/** The shortest time between two notes of the use of a token: each costs a write. */
export const tokenUsePeriodMs = 60 * 60 * 1000;

/**
 * Notes that a token is used, unless a use less than an hour ago is noted. A use in the future is one of a clock that was
 * ahead, and is replaced.
 *
 * @param now Unix time, in ms
 * @returns the time of the noted use; Unix time, in ms
 */
export async function noteTokenUse(
  table: Table,
  { organization, id }: { organization: Organization; id: string },
  now: number,
): Promise<number> {
  let usedAt = now;
  await transact(table, [
    {
      Update: {
        Key: keys.tokenUse(organization, id),
        UpdateExpression: 'SET usedAt = :now',
        ConditionExpression: 'attribute_not_exists(usedAt) OR usedAt <= :before OR usedAt > :latest',
        ExpressionAttributeValues: {
          ':now': now,
          ':before': now - tokenUsePeriodMs,
          ':latest': now + clocksDifferMs,
        },
      },
      onConditionFailed: (found) => {
        usedAt = Math.min(found?.usedAt as number, now);
        return new Conflict();
      },
    },
  ]).catch(ignoreConflict);
  return usedAt;
}

/**
 * Returns the times at which the tokens of an organization were last used, by their ids; ISO 8601. A time is up to an hour
 * too early. Tokens that were never used are absent.
 */
export async function readTokenUses({ table }: TableContext, organization: Organization): Promise<Map<string, string>> {
  const items = await readRange(table, { pk: keys.tokenUses(organization) });
  const uses = items.filter(({ usedAt }) => usedAt !== undefined);
  return new Map(uses.map(({ sk, usedAt }) => [sk as string, timestamp(usedAt as number)]));
}

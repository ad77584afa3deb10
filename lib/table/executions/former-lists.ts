import { setBounded } from '../../contract/bounded-map.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItem } from '../access/reads.ts';
import { transact } from '../access/transact.ts';
import type { Item } from '../access/write.ts';

/** The part of a context that knows whether functions of the version before may run. */
export type FormerListsContext = TableContext & {
  /**
   * Until when the executions that an organization starts are listed as version 0.2.0 did it (Unix time, in ms), as far as
   * this process has read it. Absent if no other version runs at the same time: on one machine.
   */
  formerLists?: Map<Organization, number> | undefined;
};

/**
 * For how long after its first start by this version an organization gets lists that version 0.2.0 can read and end: in a
 * deploy, and in its rollback, functions of both versions run. In milliseconds.
 */
const formerMs = 60 * 60_000;

/** The maximum number of organizations in `formerLists`; beyond them it starts empty. */
const organizationsAtMost = 1_000;

/**
 * Returns whether an execution that starts now is listed as version 0.2.0 did it. The first call in a process reads the end
 * of that time, the first one of all sets it.
 *
 * @param now Unix time, in ms
 */
export async function usesFormerLists(
  { table, formerLists }: FormerListsContext,
  organization: Organization,
  now: number,
): Promise<boolean> {
  if (!formerLists) return false;
  let until = formerLists.get(organization);
  if (until === undefined) {
    const Key = keys.running(organization);
    const stored = untilIn(await getItem(table, Key));
    until = stored ?? (untilIn(await transact(table, [setOnce(Key, now + formerMs)])) as number);
    setBounded(formerLists, organization, until, organizationsAtMost);
  }
  return now < until;
}

const untilIn = (item: Item | undefined) => item?.formerListsUntil as number | undefined;

function setOnce(Key: ReturnType<typeof keys.running>, until: number) {
  return {
    Update: {
      Key,
      UpdateExpression: 'SET formerListsUntil = if_not_exists(formerListsUntil, :until)',
      ExpressionAttributeValues: { ':until': until },
      ReturnValues: 'ALL_NEW' as const,
    },
  };
}

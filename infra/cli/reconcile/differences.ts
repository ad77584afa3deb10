import { isDeepStrictEqual } from 'node:util';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { batchWriteLimit, writeBatch } from '../../../lib/table/access/batch-writes.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { type Key, keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import type { Item, Write } from '../../../lib/table/access/write.ts';
import { isRunning } from '../../../lib/table/executions/execution-items.ts';
import { listedWrites, withoutStart } from '../../../lib/table/executions/execution-lists.ts';
import { listingWrites } from '../../../lib/table/lists/listing.ts';
import { agentPurgeWrite } from '../../../lib/table/purges/purge-items.ts';
import { removeCorrectCounters } from './counter-sums.ts';
import { itemName, type OrganizationItems, readOrganization } from './organization-items.ts';

/**
 * A derived item, or the list of a task's dependents, that differs from the value derived from the items. An item that is
 * missing, or that should not exist, is `undefined`.
 */
export type Difference =
  | { of: 'item'; key: Key; stored: Item | undefined; expected: Item | undefined }
  | { of: 'dependents'; key: Key; stored: string[]; expected: string[] };

/**
 * Returns the wrong lists and counts of an organization. Derives from its tasks, executions and webhooks, as
 * the stores derive them, the rows and counters of its lists, the search entries and the dependents of its tasks, the
 * number of its running executions and the subscriptions of its webhooks, and compares them with the stored ones. A write
 * during the reading may show as a difference. So may the search entry of a task that has just changed.
 *
 * @param now when a missing purge becomes due; ISO 8601
 * @param onRead receives how many items of the table were read so far
 */
export async function findDifferences(
  table: Table,
  organization: Organization,
  now: string,
  onRead: (items: number) => void = () => {},
): Promise<Difference[]> {
  const found = await readOrganization(table, organization, onRead);
  leaveToPurges(organization, found);
  const expected = expectedItems(organization, found);
  removeCorrectCounters(found.derived, expected);
  keepStartCounts(organization, found.derived, expected);
  const names = new Set([...expected.keys(), ...found.derived.keys()]);
  const items = [...names].map((name) => difference(found.derived.get(name), expected.get(name)));
  const differing = [...items, ...purgeDifferences(organization, found, now)].filter((one) =>
    Boolean(one.stored && one.expected ? !isAsExpected(one.stored, one.expected) : (one.stored ?? one.expected)),
  );
  return [...differing, ...dependentsDifferences(organization, found)];
}

/** Returns whether a stored item is the expected one. A row from before 0.3.0 may lack what has started its execution. */
function isAsExpected(stored: Item, expected: Item): boolean {
  return [expected, withoutStart(expected)].some((item) => isDeepStrictEqual(stored, item));
}

function difference(stored: Item | undefined, expected: Item | undefined) {
  const { pk, sk } = (stored ?? expected) as Item;
  return { of: 'item' as const, key: { pk, sk } as Key, stored, expected };
}

/**
 * Leaves the lists of an agent that is being purged to its purge: its executions are in no list but the agent's own,
 * and the purge finds them by the rows of that list.
 */
function leaveToPurges(organization: Organization, { agents, purges, derived }: OrganizationItems): void {
  const deleted = [...purges.keys()].filter((id) => !agents.has(id));
  const lists = deleted.map((id) => keys.executionScope(organization, ulidOf(id)));
  const partitions = new Set(lists.flatMap(({ rows, counters }) => [rows, counters]));
  for (const [name, { pk }] of derived) if (partitions.has(pk as string)) derived.delete(name);
}

/** Returns the derived items that an organization should have, by name. */
function expectedItems(
  organization: Organization,
  { tasks, executions, webhooks, agents, purges, derived }: OrganizationItems,
): Map<string, Item> {
  const expected = new Map<string, Item>();
  const put = (item: Item) => expected.set(itemName(item), item);
  const list = (writes: readonly Write[]) => {
    for (const write of writes) put(itemAfter(expected, write));
  };
  for (const { membership, entry } of tasks) {
    list(listingWrites(undefined, membership));
    put(entry);
  }
  for (const execution of executions) {
    if (agents.has(execution.agentId)) list(listedWrites(execution));
    // A purge finds the executions of a deleted agent by the agent's own list alone.
    else if (!purges.has(execution.agentId)) list(listedWrites(execution, true));
  }
  const running = executions.filter(isRunning).length;
  if (running > 0) put({ ...keys.running(organization), running });
  if (webhooks.length > 0) put({ ...keys.webhookCount(organization), count: webhooks.length });
  for (const { ulid, events, taskFilters } of webhooks)
    for (const event of events)
      put({
        ...subscriptionOf(derived, keys.subscription(organization, event, ulid)),
        ...(taskFilters !== undefined && { taskFilters }),
      });
  return expected;
}

/** Returns the expected row of a subscription. Its time cannot be derived from items, so it is expected as it is stored. */
function subscriptionOf(derived: ReadonlyMap<string, Item>, key: Key): Item {
  const since = derived.get(itemName(key))?.since;
  return { ...key, ...(since !== undefined && { since }) };
}

/** Expects the other attributes of the running count as they are stored: they cannot be derived from items. */
function keepStartCounts(
  organization: Organization,
  derived: ReadonlyMap<string, Item>,
  expected: Map<string, Item>,
): void {
  const name = itemName(keys.running(organization));
  const { running, ...rest } = derived.get(name) ?? {};
  if (Object.keys(rest).length > Object.keys(keys.running(organization)).length)
    expected.set(name, { ...rest, ...expected.get(name) });
}

/** Returns the item that exists after the put of a row, or after a counter's `ADD #name :number, …`. */
function itemAfter(items: ReadonlyMap<string, Item>, write: Write): Item {
  if ('Put' in write) return write.Put.Item ?? {};
  if (!('Update' in write)) throw new Error(`Unexpected write for a new item of a list: ${JSON.stringify(write)}`);
  const { Key = {}, UpdateExpression = '', ExpressionAttributeNames: names, ExpressionAttributeValues } = write.Update;
  const item = items.get(itemName(Key)) ?? { ...Key };
  for (const [, name = '', value = ''] of UpdateExpression.matchAll(/(#\w+) (:\w+)/g)) {
    const attribute = names?.[name] as string;
    item[attribute] = ((item[attribute] as number | undefined) ?? 0) + ExpressionAttributeValues?.[value];
  }
  return item;
}

/** Returns the purges of agents that exist, and the missing ones: of executions without an agent. */
function purgeDifferences(organization: Organization, { executions, agents, purges }: OrganizationItems, now: string) {
  const mistaken = [...purges]
    .filter(([agentId]) => agents.has(agentId))
    .map(([, item]) => difference(item, undefined));
  const unpurged = new Set(executions.map(({ agentId }) => agentId).filter((id) => !agents.has(id) && !purges.has(id)));
  const missing = [...unpurged].map((agentId) =>
    difference(undefined, itemAfter(new Map(), agentPurgeWrite({ organization, agentId }, now))),
  );
  return [...mistaken, ...missing];
}

function dependentsDifferences(organization: Organization, { tasks }: OrganizationItems): Difference[] {
  const edges = tasks.flatMap(({ id, dependsOn }) => dependsOn.map((on) => ({ on, id })));
  const dependents = Map.groupBy(edges, ({ on }) => on);
  return tasks.flatMap(({ id, dependents: stored }): Difference[] => {
    const expected = (dependents.get(id) ?? []).map((edge) => edge.id).sort();
    if (isDeepStrictEqual(stored, expected)) return [];
    return [{ of: 'dependents', key: keys.task(organization, ulidOf(id)), stored, expected }];
  });
}

/**
 * Writes the expected items. It can be repeated, and continued after an interruption. A write to the same lists at the
 * same time is lost, because counts are set, not added to.
 *
 * @param onRepair receives how many differences were repaired so far
 */
export async function repairDifferences(
  table: Table,
  differences: readonly Difference[],
  onRepair: (done: number) => void = () => {},
): Promise<void> {
  const items = differences.filter((one) => one.of === 'item');
  for (let at = 0; at < items.length; at += batchWriteLimit) {
    await writeBatch(
      table,
      items
        .slice(at, at + batchWriteLimit)
        .map(({ key: Key, expected }) => (expected ? { PutRequest: { Item: expected } } : { DeleteRequest: { Key } })),
    );
    onRepair(Math.min(at + batchWriteLimit, items.length));
  }
  let done = items.length;
  for (const one of differences) {
    if (one.of !== 'dependents') continue;
    await transact(table, [dependentsWrite(one)]);
    onRepair(++done);
  }
}

/** An update with a condition, never a put: a put could create a task again that was deleted after the comparison. */
function dependentsWrite({ key: Key, expected }: { key: Key; expected: string[] }): Write {
  return {
    Update: {
      Key,
      UpdateExpression: expected.length > 0 ? 'SET dependents = :dependents' : 'REMOVE dependents',
      ConditionExpression: 'attribute_exists(pk)',
      ...(expected.length > 0 && { ExpressionAttributeValues: { ':dependents': new Set(expected) } }),
    },
  };
}

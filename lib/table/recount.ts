import { isDeepStrictEqual } from 'node:util';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { batchWriteLimit, writeBatch } from './batch-writes.ts';
import type { Table } from './client.ts';
import { leaveWhatAddsUp } from './counter-sums.ts';
import { type Key, keys } from './keys.ts';
import { listingWrites, type Standing } from './listing.ts';
import { itemName, type OrganizationItems, readOrganization } from './organization-items.ts';
import { agentPurgeWrite } from './purge-items.ts';
import { transact } from './transact.ts';
import type { Item, Write } from './write.ts';

/**
 * What is not as the items imply: a derived item, `undefined` where there is none or should be none, or the dependents
 * that a task names.
 */
export type Difference =
  | { of: 'item'; key: Key; stands: Item | undefined; implied: Item | undefined }
  | { of: 'dependents'; key: Key; stands: string[]; implied: string[] };

/**
 * Recounts an organization: derives from its tasks, executions and webhooks, as the stores derive them, the rows and
 * counters of its lists, the dependents of its tasks, the number of its running executions and what its webhooks hear,
 * and tells what differs from what stands. What is written meanwhile may be told as a difference.
 *
 * @param now when a purge that is missing becomes due; ISO 8601
 * @param tell how many items of the table were read so far
 */
export async function recount(
  table: Table,
  organization: Organization,
  now: string,
  tell: (items: number) => void = () => {},
): Promise<Difference[]> {
  const found = await readOrganization(table, organization, tell);
  leaveToPurges(organization, found);
  const implied = impliedBy(organization, found);
  leaveWhatAddsUp(found.derived, implied);
  leaveStartCounts(organization, found.derived, implied);
  const names = new Set([...implied.keys(), ...found.derived.keys()]);
  const items = [...names].map((name) => difference(found.derived.get(name), implied.get(name)));
  const differing = [...items, ...purgesOf(organization, found, now)].filter(({ stands, implied: should }) =>
    Boolean(stands && should ? !isDeepStrictEqual(stands, should) : (stands ?? should)),
  );
  return [...differing, ...wrongDependents(organization, found)];
}

function difference(stands: Item | undefined, implied: Item | undefined) {
  const { pk, sk } = (stands ?? implied) as Item;
  return { of: 'item' as const, key: { pk, sk } as Key, stands, implied };
}

/**
 * What belongs to an agent that is being purged is left to the purge: its executions are in nobody's list, and their
 * rows in the agent's own are how the purge finds them.
 */
function leaveToPurges(organization: Organization, { agents, purges, derived }: OrganizationItems): void {
  const gone = [...purges.keys()].filter((id) => !agents.has(id));
  const lists = gone.map((id) => keys.executionScope(organization, ulidOf(id)));
  const partitions = new Set(lists.flatMap(({ rows, counters }) => [rows, counters]));
  for (const [name, { pk }] of derived) if (partitions.has(pk as string)) derived.delete(name);
}

/** The derived items that an organization should have, by name. */
function impliedBy(
  organization: Organization,
  { tasks, executions, webhooks, agents, purges }: OrganizationItems,
): Map<string, Item> {
  const implied = new Map<string, Item>();
  const put = (item: Item) => implied.set(itemName(item), item);
  const stand = (standing: Standing) => {
    for (const write of listingWrites(undefined, standing)) put(written(implied, write));
  };
  for (const { standing } of tasks) stand(standing);
  for (const { agentId, standing } of executions) {
    if (agents.has(agentId)) stand(standing);
    // Only its own list names to a purge what an agent that is gone has left.
    else if (!purges.has(agentId)) stand({ ...standing, lists: [keys.executionScope(organization, ulidOf(agentId))] });
  }
  const running = executions.filter((execution) => execution.running).length;
  if (running > 0) put({ ...keys.running(organization), running });
  if (webhooks.length > 0) put({ ...keys.webhookCount(organization), count: webhooks.length });
  for (const { ulid, events } of webhooks)
    for (const event of events) put(keys.subscription(organization, event, ulid));
  return implied;
}

/** Beside the number of running executions an item has what limits their starts, which no item implies: it stays. */
function leaveStartCounts(
  organization: Organization,
  derived: ReadonlyMap<string, Item>,
  implied: Map<string, Item>,
): void {
  const name = itemName(keys.running(organization));
  const { running: _, ...rest } = derived.get(name) ?? {};
  if (Object.keys(rest).length > Object.keys(keys.running(organization)).length)
    implied.set(name, { ...rest, ...implied.get(name) });
}

/** The item that a row's put or a counter's `ADD #name :number, …` leaves behind. */
function written(items: ReadonlyMap<string, Item>, write: Write): Item {
  if ('Put' in write) return write.Put.Item ?? {};
  if (!('Update' in write)) throw new Error(`What is new to a list cannot write ${JSON.stringify(write)}.`);
  const { Key = {}, UpdateExpression = '', ExpressionAttributeNames: names, ExpressionAttributeValues } = write.Update;
  const item = items.get(itemName(Key)) ?? { ...Key };
  for (const [, name = '', value = ''] of UpdateExpression.matchAll(/(#\w+) (:\w+)/g)) {
    const cell = names?.[name] as string;
    item[cell] = ((item[cell] as number | undefined) ?? 0) + ExpressionAttributeValues?.[value];
  }
  return item;
}

/** Purges there are and should not be, of agents that are there, and those that should be: of executions without one. */
function purgesOf(organization: Organization, { executions, agents, purges }: OrganizationItems, now: string) {
  const mistaken = [...purges]
    .filter(([agentId]) => agents.has(agentId))
    .map(([, item]) => difference(item, undefined));
  const gone = new Set(executions.map(({ agentId }) => agentId).filter((id) => !agents.has(id) && !purges.has(id)));
  const missing = [...gone].map((agentId) =>
    difference(undefined, written(new Map(), agentPurgeWrite({ organization, agentId }, now))),
  );
  return [...mistaken, ...missing];
}

function wrongDependents(organization: Organization, { tasks }: OrganizationItems): Difference[] {
  const edges = tasks.flatMap(({ id, dependsOn }) => dependsOn.map((on) => ({ on, id })));
  const dependents = Map.groupBy(edges, ({ on }) => on);
  return tasks.flatMap(({ id, dependents: stands }): Difference[] => {
    const implied = (dependents.get(id) ?? []).map((edge) => edge.id).sort();
    if (isDeepStrictEqual(stands, implied)) return [];
    return [{ of: 'dependents', key: keys.task(organization, ulidOf(id)), stands, implied }];
  });
}

/**
 * Writes what the items imply. It may be done again, and goes on after it was stopped; but what is written to the same
 * lists at the same moment is lost, for a number is set, not added to.
 *
 * @param tell how many differences were put right so far
 */
export async function putRight(
  table: Table,
  differences: readonly Difference[],
  tell: (done: number) => void = () => {},
): Promise<void> {
  const items = differences.filter((one) => one.of === 'item');
  for (let at = 0; at < items.length; at += batchWriteLimit) {
    await writeBatch(
      table,
      items
        .slice(at, at + batchWriteLimit)
        .map(({ key: Key, implied }) => (implied ? { PutRequest: { Item: implied } } : { DeleteRequest: { Key } })),
    );
    tell(Math.min(at + batchWriteLimit, items.length));
  }
  let done = items.length;
  for (const one of differences) {
    if (one.of !== 'dependents') continue;
    await transact(table, [dependentsWrite(one)]);
    tell(++done);
  }
}

/** An update, never a put, and on condition: a task that was deleted meanwhile must not come back as its edges. */
function dependentsWrite({ key: Key, implied }: { key: Key; implied: string[] }): Write {
  return {
    Update: {
      Key,
      UpdateExpression: implied.length > 0 ? 'SET dependents = :dependents' : 'REMOVE dependents',
      ConditionExpression: 'attribute_exists(pk)',
      ...(implied.length > 0 && { ExpressionAttributeValues: { ':dependents': new Set(implied) } }),
    },
  };
}

import type { Page } from '../../contract/endpoint.ts';
import type { ExecutionListItem, ExecutionStatus } from '../../contract/executions/executions.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { descending } from '../../contract/texts/order.ts';
import type { TableContext } from '../access/client.ts';
import { type Key, keys, type ListScope } from '../access/keys.ts';
import { getEach, queryItems, readRange } from '../access/reads.ts';
import { onlyShard, shardOf } from '../access/shards.ts';
import { Conflict, retryOnConflict, transactionLimit } from '../access/transact.ts';
import type { Item, OnConditionFailed, Write } from '../access/write.ts';
import { addToCounter, everything, type ListMembership, listingWrites, type Row, readPage } from '../lists/listing.ts';
import {
  type ExecutionHead,
  executionFacet,
  isFormer,
  isRunning,
  listItemOf,
  type StartLetter,
  startedByOf,
  startLetterOf,
} from './execution-items.ts';

/**
 * The lists of executions (docs/architecture.md#lists-of-executions). A running execution has one row, in the list of its
 * organization, and no counter. Its end deletes the row, and enters the lists of its organization and its agent: in each a
 * row under its status, and a counter.
 *
 * An execution without `form` is listed as version 0.2.0 did it: from its start on, each of both lists has a row under its
 * status, a row under `everything`, and counters of both. Reads use the rows and counters of a status alone. So they need
 * not know in which form an execution is listed.
 */

/** The facets of executions that have ended. */
const endedFacets = [executionFacet('completed'), executionFacet('failed')];

/** Returns the lists of an execution: its organization's and its agent's. */
function listsOf({ organization, agentId }: ExecutionHead): [all: ListScope, own: ListScope] {
  return [keys.executionScope(organization), keys.executionScope(organization, ulidOf(agentId))];
}

/**
 * Returns what the rows of an execution store. What has started the execution is one letter there: a request can read
 * thousands of rows, and their size is what it costs.
 */
function entryOf(execution: ExecutionHead): Item {
  return { ...listItemOf(execution), by: startLetterOf(execution) };
}

/** Returns a row of an execution without what has started it, as versions before 0.3.0 wrote it; any other item as it is. */
export function withoutStart({ by, ...item }: Item): Item {
  return item;
}

/** Returns the row of an execution under its status. The row of a running execution also has the id of its agent, to select by. */
function rowOf(list: ListScope, execution: ExecutionHead): Item {
  const { id, status, agentId } = execution;
  const Key = keys.listRow(list, executionFacet(status), ulidOf(id));
  return { ...Key, ...entryOf(execution), ...(status === 'running' && { agentId }) };
}

/** Returns the lists of an execution in the form of version 0.2.0. The rows hold the entries of the lists. */
function formerMembership(execution: ExecutionHead): ListMembership {
  const { id, status } = execution;
  return { ulid: ulidOf(id), facet: executionFacet(status), lists: listsOf(execution), entry: entryOf(execution) };
}

/**
 * Returns the writes of the rows and counters of an execution with the status that it has. For a running one they are part
 * of the transaction that starts it.
 *
 * @param inOwnList whether only the list of its agent has it, because the agent is deleted
 */
export function listedWrites(execution: ExecutionHead, inOwnList = false): Write[] {
  const [all, own] = listsOf(execution);
  const lists = inOwnList ? [own] : [all, own];
  if (isFormer(execution)) return listingWrites(undefined, { ...formerMembership(execution), lists });
  if (isRunning(execution)) return [{ Put: { Item: rowOf(inOwnList ? own : all, execution) } }];
  return lists.flatMap((list) => enterWrites(list, execution));
}

/** Returns the writes that enter an execution that has ended into a list. */
function enterWrites(list: ListScope, execution: ExecutionHead): Write[] {
  const { id, status } = execution;
  return [
    { Put: { Item: rowOf(list, execution) } },
    addToCounter(list, ulidOf(id), onlyShard, { [executionFacet(status)]: 1 }),
  ];
}

/**
 * Returns the writes that move an execution in its lists when it ends.
 *
 * @param onRowMissing returns the error if it is not listed any more: a late end must not list a purged execution
 */
export function endingRowWrites(before: ExecutionHead, after: ExecutionHead, onRowMissing: OnConditionFailed): Write[] {
  const [all] = listsOf(before);
  const writes = isFormer(before)
    ? listingWrites(formerMembership(before), formerMembership(after))
    : [
        { Delete: { Key: keys.listRow(all, executionFacet(before.status), ulidOf(before.id)) } },
        ...listsOf(before).flatMap((list) => enterWrites(list, after)),
      ];
  return writes.map((write) => ('Delete' in write ? requiredDelete(write.Delete.Key as Key, onRowMissing) : write));
}

/** Returns the delete of a row, on the condition that the row exists. */
function requiredDelete(Key: Key, onConditionFailed: OnConditionFailed): Write {
  return { Delete: { Key, ConditionExpression: 'attribute_exists(pk)' }, onConditionFailed };
}

/** Returns all rows of an execution that has ended, to write them again after a change of the execution. */
export function rowsOf(execution: ExecutionHead): Item[] {
  const facets = isFormer(execution) ? [everything] : [];
  return listsOf(execution).flatMap((list) => {
    const row = rowOf(list, execution);
    return [row, ...facets.map((facet) => ({ ...row, ...keys.listRow(list, facet, ulidOf(execution.id)) }))];
  });
}

/** The row of a running execution, as lists show it. */
export type RunningRow = Pick<ExecutionListItem, 'id' | 'agentName' | 'taskId' | 'startedAt'> & Item;

/**
 * Returns the rows of the running executions of all agents or of one, newest first. The list of the organization has them.
 * The list of the agent has rows in the form of version 0.2.0 and, after the deletion of the agent, the rows that remain to
 * be purged.
 */
export async function readRunningRows(
  { table }: TableContext,
  organization: Organization,
  agentId?: string,
): Promise<RunningRow[]> {
  const facet = executionFacet('running');
  const read = ({ rows: pk }: ListScope): Promise<Item[]> =>
    readRange(table, { pk, from: `${facet}#`, to: `${facet}#~` });
  const all = keys.executionScope(organization);
  if (agentId === undefined) return (await read(all)) as RunningRow[];
  const [rows, own] = await Promise.all([read(all), read(keys.executionScope(organization, ulidOf(agentId)))]);
  const found = [...rows.filter((row) => row.agentId === agentId), ...own] as RunningRow[];
  return [...new Map(found.map((row) => [row.id, row])).values()].sort((a, b) => descending(a.id, b.id));
}

/**
 * Reads executions that are running together with data of executions that have ended. An execution that ends between both reads
 * would be in both or in neither. So the running ones are read before and after; if one of them is missing then, all is
 * read again.
 *
 * @param read gets the rows of the running executions
 */
export function readWithRunning<Result>(
  context: TableContext,
  organization: Organization,
  agentId: string | undefined,
  read: (running: readonly RunningRow[]) => Promise<Result>,
): Promise<Result> {
  return retryOnConflict(context.table, async () => {
    const before = await readRunningRows(context, organization, agentId);
    const result = await read(before);
    const after = before.length > 0 ? await readRunningRows(context, organization, agentId) : [];
    const stillRunning = new Set(after.map(({ id }) => id));
    if (before.some(({ id }) => !stillRunning.has(id))) throw new Conflict();
    return result;
  });
}

/** Returns the rows of the executions of an agent that have ended, from a ULID on. */
export async function readEndedRows(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
  first = '',
): Promise<Item[]> {
  const { rows: pk } = keys.executionScope(organization, ulidOf(agentId));
  const read = (facet: string) => readRange(table, { pk, from: `${facet}#${first}`, to: `${facet}#~` });
  return (await Promise.all(endedFacets.map(read))).flat();
}

/**
 * Returns a page of the executions of all agents or of one, newest first, and the exact number of all that match the
 * filter.
 */
export async function readExecutionPage(
  context: TableContext,
  organization: Organization,
  { agentId, status }: { agentId?: string | undefined; status?: ExecutionStatus | undefined },
  page: { limit: number; offset: number },
): Promise<Page<ExecutionListItem>> {
  const { limit, offset } = page;
  const { table } = context;
  const list = keys.executionScope(organization, agentId && ulidOf(agentId));
  if (status === 'running') {
    const running = await readRunningRows(context, organization, agentId);
    return { items: running.slice(offset, offset + limit).map(listItemFrom), total: running.length };
  }
  const { rows, total } = status
    ? await readPage(table, { list, facets: [executionFacet(status)], ...page })
    : await readWithRunning(context, organization, agentId, (running) =>
        readPage(table, { list, facets: endedFacets, others: running.map(asRow), ...page }),
      );
  return { items: rows.map(({ entry }) => listItemFrom(entry)), total };
}

const asRow = (entry: RunningRow): Row => ({ ulid: ulidOf(entry.id), entry });

/** Returns the execution that a row stores, as lists show it. */
function listItemFrom({ pk, sk, agentId, by, ...entry }: Item): ExecutionListItem {
  return { ...entry, ...(by !== undefined && { startedBy: startedByOf(by as StartLetter) }) } as ExecutionListItem;
}

/**
 * Yields the ids of the executions in an agent's own list, and of running executions, each once. An execution that
 * ends in the meantime has the status that it had before.
 */
export async function* readListed(
  context: TableContext,
  organization: Organization,
  agentId: string,
): AsyncGenerator<{ ulid: string; status: ExecutionStatus }> {
  const running = new Set<string>();
  for (const { id } of await readRunningRows(context, organization, agentId)) {
    running.add(id);
    yield { ulid: ulidOf(id), status: 'running' };
  }
  const { rows: pk } = keys.executionScope(organization, ulidOf(agentId));
  for (const facet of endedFacets)
    for await (const { id, status } of queryItems(context.table, { pk, from: `${facet}#`, to: `${facet}#~` }))
      if (!running.has(id as string)) yield { ulid: ulidOf(id as string), status: status as ExecutionStatus };
}

/** Returns the keys of all rows that an execution with a status can have in a list. */
export function rowKeys(list: ListScope, ulid: string, status: ExecutionStatus): Key[] {
  return [everything, executionFacet(status)].map((facet) => keys.listRow(list, facet, ulid));
}

/** The maximum number of executions whose `unlistingWrites` fit in one transaction: two writes for each, and the counter. */
export const unlistedAtOnce = Math.floor((transactionLimit - 1) / 2);

/**
 * Returns the writes that remove executions of a deleted agent from the list of the organization. A running one stays in
 * the list of its agent, where the purge finds it. Executions that the list does not have any more are left out.
 *
 * @param ulids the ULIDs of executions with the same counter
 */
export async function unlistingWrites(
  { table }: TableContext,
  { organization, agentId }: { organization: Organization; agentId: string },
  ulids: readonly string[],
): Promise<Write[]> {
  const [all, own] = [keys.executionScope(organization), keys.executionScope(organization, ulidOf(agentId))];
  const facets = [everything, executionFacet('running'), ...endedFacets];
  const found = await getEach(
    table,
    ulids.flatMap((ulid) => facets.map((facet) => keys.listRow(all, facet, ulid))),
  );
  const changes: Record<string, number> = {};
  const rows = ulids.flatMap((ulid, at) => {
    const [former, ...rest] = found.slice(at * facets.length, (at + 1) * facets.length);
    const row = rest.find((one) => one !== undefined);
    const facet = row && executionFacet(row.status as ExecutionStatus);
    if (!facet) return [];
    const isCounted = former !== undefined || facet !== executionFacet('running');
    const left = [...(former ? [everything] : []), facet];
    for (const one of isCounted ? left : []) changes[one] = (changes[one] ?? 0) - 1;
    return [
      ...left.map((one) => requiredDelete(keys.listRow(all, one, ulid), () => new Conflict())),
      ...(isCounted ? [] : [{ Put: { Item: { ...row, ...keys.listRow(own, facet, ulid) } } }]),
    ];
  });
  if (Object.keys(changes).length === 0) return rows;
  const first = ulids[0] as string;
  return [...rows, addToCounter(all, first, shardOf(first), changes)];
}

import { createHash } from 'node:crypto';
import type { Page } from '../../contract/endpoint.ts';
import { ulidFrom, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { type HistoryEntry, historyLimit } from '../../contract/tasks/history.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type BatchingContext, putInBatch } from '../access/batchers.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import type { Item } from '../access/write.ts';

/**
 * Histories are written from the stream, an item for each entry, without a condition: its key follows from the change, so a repeated
 * record writes the same item again.
 */

/** For how long an entry is kept, in seconds. */
const keptForSeconds = 366 * 24 * 60 * 60;

/** Whose history it is: a task or an agent, by its id. */
export type Subject = { organization: Organization; of: 'task' | 'agent'; id: string };

/** A new entry. `order` tells it from other entries of the same time, and sorts them. */
export type NewEntry = Omit<HistoryEntry, 'id'> & { order: string };

const partitionOf = ({ organization, of, id }: Subject) =>
  of === 'task' ? keys.taskHistory(organization, ulidOf(id)) : keys.agentHistory(organization, ulidOf(id));

/** Writes entries of a history. It can be repeated. */
export async function putEntries(
  context: BatchingContext,
  subject: Subject,
  entries: readonly NewEntry[],
): Promise<void> {
  await Promise.all(entries.map((entry) => putInBatch(context, entryItem(subject, entry))));
}

function entryItem(subject: Subject, { at, order, kind: what, by, requestId, changes = [], note }: NewEntry): Item {
  return {
    ...{ pk: partitionOf(subject), sk: `${at}#${order}` },
    ...{ what, by },
    ...(requestId !== undefined && { requestId }),
    ...(changes.length > 0 && { changes }),
    ...(note !== undefined && { note }),
    [tableSchema.expiry]: Math.floor(Date.parse(at) / 1000) + keptForSeconds,
  };
}

/** Returns a page of a history, the newest entries first, and the number of entries, up to the maximum that is shown. */
export async function readHistoryPage(
  { table }: TableContext,
  subject: Subject,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<HistoryEntry>> {
  // All of them: no counter is written for an entry, and most histories are short.
  const items = await readRange(table, { pk: partitionOf(subject), limit: historyLimit });
  return { items: items.slice(offset, offset + limit).map(entryFrom), total: items.length };
}

function entryFrom({ pk, sk, what, [tableSchema.expiry]: _, ...rest }: Item): HistoryEntry {
  const [at = ''] = (sk as string).split('#');
  const hash = createHash('sha256').update(`${pk} ${sk}`).digest();
  return { ...rest, id: `hi_${ulidFrom(Date.parse(at), hash)}`, at, kind: what } as HistoryEntry;
}

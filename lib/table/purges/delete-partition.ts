import type { Table } from '../access/client.ts';
import { queryItems } from '../access/reads.ts';
import { transact, transactionLimit } from '../access/transact.ts';
import type { Write } from '../access/write.ts';

/** Deletes all items of a partition that gets no new items. Several calls can run at the same time. */
export async function deletePartition(table: Table, pk: string): Promise<void> {
  let writes: Write[] = [];
  for await (const { sk } of queryItems(table, { pk })) {
    writes.push({ Delete: { Key: { pk, sk: sk as string } } });
    if (writes.length < transactionLimit) continue;
    await transact(table, writes);
    writes = [];
  }
  if (writes.length > 0) await transact(table, writes);
}

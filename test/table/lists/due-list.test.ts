import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Key } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { deliveryPartition, deliveryPartitions } from '../../../lib/table/lists/delivery-partitions.ts';
import { dueEntry, type Overdue, readDue } from '../../../lib/table/lists/due.ts';
import { mockTable, queriesOf, returnPages } from '../fixtures/mock-table.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const { table } = await createTestTable();
let organization: Organization;
beforeEach(() => {
  organization = newOrganization();
});

/** Puts an item that is due at `dueAt`, in the partition of its ULID. */
async function put(ulid: string, dueAt: string): Promise<Key> {
  const key = { pk: organization, sk: ulid };
  await transact(table, [{ Put: { Item: { ...key, ...dueEntry(deliveryPartition(ulid), dueAt) } } }]);
  return key;
}

/** Returns the sort keys of the test's own due items. */
const due = async (until: string, from?: string) =>
  (await Array.fromAsync(readDue({ table }, deliveryPartitions, until, from)))
    .filter(({ key }) => key.pk === organization)
    .map(({ key }) => key.sk);

it('items with ULIDs of every last letter are listed, and spread over all partitions', async () => {
  const ulids = [...letters].map((letter) => letter.padStart(26, '0'));
  await Promise.all(ulids.map((ulid) => put(ulid, at(60))));
  expect((await due(at(60))).sort()).toEqual(ulids);
  expect([...new Set(ulids.map(deliveryPartition))].sort()).toEqual([...deliveryPartitions]);
});

it('a read takes one page of each partition in turn, only when needed, and sorts each turn by due time', async () => {
  const { table: mocked, dynamodb } = mockTable();
  const pages = [0, 1, 2, 3, 4, 5, 6, 7].map((nth) => ({
    Items: [{ pk: 'pk', sk: `D#${nth}`, dueAt: at(10 - nth) }],
    // Each page of the first turn has a next page.
    ...(nth < 4 && { LastEvaluatedKey: { pk: 'pk', sk: `D#${nth}` } }),
  }));
  returnPages(dynamodb, ...pages);
  const overdue = readDue({ table: mocked }, deliveryPartitions, at(60));
  const turn = async () => {
    const listed: string[] = [];
    while (listed.length < 4) listed.push(((await overdue.next()).value as Overdue).key.sk);
    return listed;
  };

  expect(await turn()).toEqual(['D#3', 'D#2', 'D#1', 'D#0']);
  expect(dynamodb).toHaveReceivedCommandTimes(QueryCommand, 4);
  expect(await turn()).toEqual(['D#7', 'D#6', 'D#5', 'D#4']);
  expect(queriesOf(dynamodb).map((input) => input.ExclusiveStartKey)).toEqual([
    ...Array(4).fill(undefined),
    ...[0, 1, 2, 3].map((nth) => ({ pk: 'pk', sk: `D#${nth}` })),
  ]);
  for (const { Limit } of queriesOf(dynamodb)) expect(Limit).toBe(100);
  expect(await overdue.next()).toMatchObject({ done: true });
});

it('a read includes both ends of its time range', async () => {
  for (const second of [10, 20, 30]) await put(`${second}`, at(second));
  expect(await due(at(30), at(20))).toEqual(['20', '30']);
  expect(await due(at(29.999), at(10.001))).toEqual(['20']);
});

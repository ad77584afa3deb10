import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { batchWriteLimit, writeBatch } from '../../../lib/table/access/batch-writes.ts';
import type { Key } from '../../../lib/table/access/keys.ts';
import { getEach } from '../../../lib/table/access/reads.ts';
import { dynamodbError } from '../fixtures/dynamodb-errors.ts';
import { mockTable } from '../fixtures/mock-table.ts';
import { createTestTable } from '../tasks/test-table.ts';

const puts = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ PutRequest: { Item: { pk: 'p', sk: `s${nth}`, nth } } }));

it('a batch of the greatest size can have puts or deletions', async () => {
  const { table } = await createTestTable();
  await writeBatch(table, puts(batchWriteLimit));
  const keys = puts(batchWriteLimit).map(({ PutRequest: { Item } }) => ({ pk: Item.pk, sk: Item.sk }) as Key);
  const deletions = keys.map((Key) => ({ DeleteRequest: { Key } }));
  const numbers = async () => (await getEach(table, keys)).map((item) => item?.nth);
  expect(await numbers()).toEqual(keys.map((_, nth) => nth));
  await writeBatch(table, deletions);
  expect(await numbers()).toEqual(keys.map(() => undefined));
});

it('only unprocessed writes are sent again, after a pause', async () => {
  const { table, dynamodb, pauses } = mockTable();
  const [first, second] = puts(2);
  const left = { mocked: puts(2).slice(1) };
  dynamodb.on(BatchWriteCommand).resolvesOnce({ UnprocessedItems: left }).resolves({});
  await writeBatch(table, puts(2));
  const sent = dynamodb.commandCalls(BatchWriteCommand).map(({ args: [{ input }] }) => input.RequestItems?.mocked);
  expect([sent, pauses.length]).toEqual([[[first, second], [second]], 1]);
});

it.each(['ThrottlingException', 'ProvisionedThroughputExceededException'])('%s throws `unavailable`', async (name) => {
  const { table, dynamodb } = mockTable();
  dynamodb.rejects(dynamodbError(name));
  await expect(writeBatch(table, puts(2))).rejects.toMatchObject({ code: 'unavailable' });
});

import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { batchWriteLimit, writeBatch } from '../../lib/table/batch-writes.ts';
import type { Key } from '../../lib/table/keys.ts';
import { getEach } from '../../lib/table/reads.ts';
import { dynamodbError } from './fixtures/dynamodb-errors.ts';
import { type DynamoDBMock, mockTable } from './fixtures/mock-table.ts';
import { createTestTable } from './tasks/test-table.ts';

const puts = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ PutRequest: { Item: { pk: 'p', sk: `s${nth}`, nth } } }));
const unprocessed = (left: ReturnType<typeof puts>) => ({ UnprocessedItems: { mocked: left } });

/** Writes two puts to a mocked client, and returns the error, the batches that were sent and the pauses between them. */
async function written(prepare: (dynamodb: DynamoDBMock) => void) {
  const { table, dynamodb, pauses } = mockTable();
  prepare(dynamodb);
  const error = await writeBatch(table, puts(2)).catch((reason) => reason);
  const calls = dynamodb.commandCalls(BatchWriteCommand);
  return { error, sent: calls.map(({ args: [{ input }] }) => input.RequestItems?.mocked), pauses };
}

it('a batch of the greatest size can have puts or deletions', async () => {
  const { table } = await createTestTable();
  await writeBatch(table, puts(batchWriteLimit));
  const keys = puts(batchWriteLimit).map(({ PutRequest: { Item } }): Key => ({ pk: Item.pk, sk: Item.sk }));
  const numbers = async () => (await getEach(table, keys)).map((item) => item?.nth);
  expect(await numbers()).toEqual(keys.map((_, nth) => nth));
  await writeBatch(
    table,
    keys.map((Key) => ({ DeleteRequest: { Key } })),
  );
  expect(await numbers()).toEqual(keys.map(() => undefined));
});

it('only unprocessed writes are sent again, after a pause', async () => {
  const [first, second] = puts(2);
  const { error, sent, pauses } = await written((dynamodb) =>
    dynamodb
      .on(BatchWriteCommand)
      .resolvesOnce(unprocessed(puts(2).slice(1)))
      .resolves({}),
  );
  expect(error).toBeUndefined();
  expect(sent).toEqual([[first, second], [second]]);
  expect(pauses).toHaveLength(1);
});

it('writes that stay unprocessed after eight tries throw `unavailable`', async () => {
  const { error, sent } = await written((dynamodb) => dynamodb.resolves(unprocessed(puts(1))));
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(sent).toHaveLength(8);
});

it.each(['ThrottlingException', 'ProvisionedThroughputExceededException'])('%s throws `unavailable`', async (name) => {
  const { error } = await written((dynamodb) => dynamodb.rejects(dynamodbError(name)));
  expect(error).toMatchObject({ code: 'unavailable' });
});

import { expect, it } from 'vitest';
import { batchWriteLimit, writeBatch } from '../../lib/table/batch-writes.ts';
import type { Key } from '../../lib/table/keys.ts';
import { getEach } from '../../lib/table/reads.ts';
import { openBoard } from './board.ts';
import { type Command, named, type Script, scriptedTable } from './scripted-table.ts';

const puts = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ PutRequest: { Item: { pk: 'p', sk: `s${nth}`, nth } } }));
const sentBy = ({ input }: Command) => (input.RequestItems as Record<string, unknown[]>).scripted;
const unprocessed = (left: unknown[]) => ({ UnprocessedItems: { scripted: left } });

/** How a batch of two puts ends, the requests that it took, and the pauses between them. */
async function written(script: Script) {
  const { table, sent, pauses } = scriptedTable(script);
  const error = await writeBatch(table, puts(2)).catch((reason) => reason);
  return { error, sent: sent.map(sentBy), pauses };
}

it('a batch of puts and deletions of the greatest size is one request', async () => {
  const { table } = await openBoard();
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

it('what DynamoDB leaves unprocessed is sent again after a pause, and nothing else', async () => {
  const [first, second] = puts(2);
  const { error, sent, pauses } = await written((nth) => (nth === 0 ? unprocessed([second]) : {}));
  expect(error).toBeUndefined();
  expect(sent).toEqual([[first, second], [second]]);
  expect(pauses).toHaveLength(1);
});

it('what stays unprocessed for eight tries is refused as `unavailable`', async () => {
  const { error, sent } = await written(() => unprocessed(puts(1)));
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(sent).toHaveLength(8);
});

it.each(['ThrottlingException', 'ProvisionedThroughputExceededException'])('%s is `unavailable`', async (name) => {
  expect((await written(() => named(name))).error).toMatchObject({ code: 'unavailable' });
});

it('any other error is thrown as it is', async () => {
  expect((await written(() => named('ValidationException'))).error).toMatchObject({ name: 'ValidationException' });
});

import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { openLocalTable } from '../../../../infra/local/table/local-table.ts';

/*
 * A process for `crashes.slow.test.ts`: writes to a table until it is killed, and prints the number of each answered write. A
 * write is an item alone, or a transaction of two items and a counter.
 */
const [path = '', first = '0'] = process.argv.slice(2);
const tableName = 'test';
const { table } = openLocalTable({ path, tableName, kinds: ['task'] });

async function write(n: number): Promise<void> {
  const Item = (pk: string) => ({ pk, sk: String(n), kind: 'task', text: 'x'.repeat((n * 37) % 3_000) });
  if (n % 2 === 0) await table.client.send(new PutCommand({ TableName: tableName, Item: Item('single') }));
  else {
    const puts = ['left', 'right'].map((pk) => ({ Put: { TableName: tableName, Item: Item(pk) } }));
    const count = { UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } };
    const Update = { TableName: tableName, Key: { pk: 'counter', sk: '-' }, ...count };
    await table.client.send(new TransactWriteCommand({ TransactItems: [...puts, { Update }] }));
  }
  process.stdout.write(`${n}\n`);
}

let next = Number(first);
const caller = async () => {
  for (;;) await write(next++);
};
await Promise.all(Array.from({ length: 20 }, caller));

import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { Table } from '../../lib/table/client.ts';
import { endExecution, readExecution } from '../../lib/table/executions.ts';
import type { Item } from '../../lib/table/write.ts';
import { completed, openExecutionBoard } from './execution-board.ts';
import { interceptTable } from './intercepted-table.ts';

/**
 * A table whose first query comes in the middle of an end: it finds the head as it has become, but not yet all parts of
 * the output. DynamoDB answers so: each item of a query is read before or after a transaction, but not all of them
 * together (Developer Guide, "Isolation levels for DynamoDB transactions").
 */
function tornTable(table: Table, isMissed: (item: Item) => boolean): Table {
  let queries = 0;
  const torn = interceptTable(table, async (send, command) => {
    const output = (await send()) as { Items?: Item[] };
    if (!(command instanceof QueryCommand) || queries++ > 0) return output;
    return { ...output, Items: output.Items?.filter((item) => !isMissed(item)) };
  });
  return { ...torn, sleep: async () => {} };
}

it.each([
  ['none', 'OUT#'],
  ['not the last', 'OUT#1'],
  ['not the first', 'OUT#0'],
])(
  'an execution that ends at this moment never shows a part of its output, where a read finds %s of it',
  async (_, missed) => {
    const board = await openExecutionBoard();
    const leased = await board.leased();
    const output = `${'x'.repeat(300_000)}The end.`;
    await endExecution(board, leased, completed(), { output });
    const torn = tornTable(board.table, ({ sk }) => (sk as string).startsWith(missed));
    const whole = await readExecution({ table: torn }, leased);
    expect(whole?.status).toBe('completed');
    expect(whole?.output === output).toBe(true);
  },
);

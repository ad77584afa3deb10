import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { Table } from '../../../lib/table/client.ts';
import { endExecution, readExecution } from '../../../lib/table/executions/executions.ts';
import type { Item } from '../../../lib/table/write.ts';
import { interceptTable } from '../fixtures/intercepted-table.ts';
import { completed, createExecutionTable } from './execution-table.ts';

/**
 * Returns a table whose first query reads the head after the end of an execution, and misses parts of the output. A query
 * of DynamoDB can read some items before a transaction and others after it (Developer Guide, "Isolation levels for
 * DynamoDB transactions").
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
  ['all but the last', 'OUT#1'],
  ['all but the first', 'OUT#0'],
])(
  'a read during the end of an execution returns the whole output, if its first query finds %s of the parts',
  async (_, missed) => {
    const board = await createExecutionTable();
    const leased = await board.leased();
    const output = `${'x'.repeat(300_000)}The end.`;
    await endExecution(board, leased, completed(), { output });
    const torn = tornTable(board.table, ({ sk }) => (sk as string).startsWith(missed));
    const whole = await readExecution({ table: torn }, leased);
    expect(whole?.status).toBe('completed');
    expect(whole?.output === output).toBe(true);
  },
);

import type { Table } from '../../lib/table/client.ts';

/**
 * Lets the next `count` transactions of a table meet before any of them is carried out, so that each was decided
 * without knowing of the others. Later ones go through as they come.
 */
export function letTransactionsMeet(table: Table, count: number): void {
  let missing = count;
  const { promise: met, resolve: meet } = Promise.withResolvers<void>();
  const name = 'meeting';
  table.client.middlewareStack.remove(name);
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'TransactWriteItemsCommand' && missing > 0) {
        missing -= 1;
        if (missing === 0) meet();
        await met;
      }
      return next(args);
    },
    { step: 'initialize', name },
  );
}

import type { Table } from '../../lib/table/client.ts';

/**
 * Delays the next `count` transactions of a table until the caller has sent all of them: no transaction sees the result of
 * another. Later transactions are not delayed.
 */
export function sendTransactionsTogether(table: Table, count: number): void {
  let missing = count;
  const { promise: allSent, resolve: sendAll } = Promise.withResolvers<void>();
  const name = 'sendTogether';
  table.client.middlewareStack.remove(name);
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'TransactWriteItemsCommand' && missing > 0) {
        missing -= 1;
        if (missing === 0) sendAll();
        await allSent;
      }
      return next(args);
    },
    { step: 'initialize', name },
  );
}

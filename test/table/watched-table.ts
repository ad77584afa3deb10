import type { Table } from '../../lib/table/client.ts';
import { interceptTable } from './intercepted-table.ts';

/** A request before it is sent: its number from 0, whether it writes or deletes, and which texts it contains. */
export type Watched = { nth: number; writes: boolean; deletes: boolean; names: (text: string) => boolean };

/**
 * Returns a table that calls a function before each request. The function can write to the table like a concurrent
 * writer, or throw like a killed worker. The table does not wait between tries. `idle` waits for requests under way.
 */
export function watchedTable(table: Table, before: (request: Watched) => unknown) {
  let nth = 0;
  const underWay: Promise<unknown>[] = [];
  const watched = interceptTable(table, (send, command) => {
    const carryOut = async () => {
      const { name } = command.constructor;
      const writes = !/^(Get|BatchGet|Query)Command$/.test(name);
      const names = (text: string) => JSON.stringify(command.input).includes(text);
      await before({ nth: nth++, writes, deletes: name === 'DeleteCommand', names });
      return send();
    };
    const sent = carryOut();
    underWay.push(sent);
    return sent;
  });
  return { table: { ...watched, sleep: async () => {} }, idle: () => Promise.allSettled(underWay) };
}

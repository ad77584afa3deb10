import type { Table } from '../../lib/table/client.ts';
import { interceptTable } from './intercepted-table.ts';

/** A request as it is about to be sent, counted from 0, and what it names. */
export type Watched = { nth: number; writes: boolean; deletes: boolean; names: (text: string) => boolean };

/**
 * A table like another, which tells of each request before it is sent. What is told may do something meanwhile, for
 * that is when others come in between; or throw, as where a worker is killed. It waits for no next try.
 * `idle` waits for what is under way.
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

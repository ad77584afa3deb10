import type { Table } from '../../lib/table/client.ts';

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
  const carryOut = async (command: { input?: unknown }) => {
    const { name } = command.constructor;
    const writes = !/^(Get|BatchGet|Query)Command$/.test(name);
    const names = (text: string) => JSON.stringify(command.input).includes(text);
    await before({ nth: nth++, writes, deletes: name === 'DeleteCommand', names });
    return table.client.send(command as never);
  };
  const send = (command: object) => {
    const sent = carryOut(command);
    underWay.push(sent);
    return sent;
  };
  const watched: Table = { ...table, client: { send } as unknown as Table['client'], sleep: async () => {} };
  return { table: watched, idle: () => Promise.allSettled(underWay) };
}

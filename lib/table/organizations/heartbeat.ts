import { timestamp } from '../../contract/ids.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { transact } from '../access/transact.ts';

/** The kind of the heartbeat item, by which the stream filter selects it. */
export const heartbeatKind = 'heartbeat';

/**
 * Writes the heartbeat of the deployment, an item that belongs to no organization. Each write is a change in the stream.
 * Its arrival shows that schedule, table, stream and publisher work, even while no one uses the service.
 */
export async function writeHeartbeat({ table, clock }: TableContext & { clock: () => number }): Promise<void> {
  const heartbeat = { ...keys.heartbeat(), kind: heartbeatKind, at: timestamp(clock()) };
  await transact(table, [{ Put: { Item: heartbeat } }]);
}

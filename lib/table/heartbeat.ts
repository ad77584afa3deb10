import { timestamp } from '../contract/ids.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { transact } from './transact.ts';

/** The kind that the stream tells heartbeats by. */
export const heartbeatKind = 'heartbeat';

/**
 * Writes the heartbeat of the deployment, one item that belongs to no organization. Each write is a change that the stream
 * tells, so that its arrival shows that schedule, table, stream and publisher work though nobody uses the service.
 *
 * @param now milliseconds since 1970
 */
export async function writeHeartbeat(table: Table, now: number): Promise<void> {
  await transact(table, [{ Put: { Item: { ...keys.heartbeat(), kind: heartbeatKind, at: timestamp(now) } } }]);
}

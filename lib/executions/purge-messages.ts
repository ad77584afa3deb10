import { queueOf } from '../apps/queues.ts';
import type { Context } from '../context.ts';
import type { PurgeMessage } from '../deployment/messages.ts';
import { type SweepCall, type Swept, sweep } from '../table/due.ts';
import { type Purge, purgeFrom, purgePartition } from '../table/purge-items.ts';

/** Sends the messages of purges. A message too many does no harm: its worker finds nothing to delete. */
export function sendPurgeMessages(context: Context, purges: readonly Purge[]): Promise<void> {
  return queueOf<PurgeMessage>(context, 'purges').send(purges.map((purge) => ({ message: purge, delaySeconds: 0 })));
}

/** Sends the messages of purges that are overdue; see `lib/table/due.ts`. */
export function sweepPurges(context: Context, call: SweepCall): Promise<Swept> {
  return sweep(context, [purgePartition], call, (items) => sendPurgeMessages(context, items.map(purgeFrom)));
}

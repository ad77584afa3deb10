import type { Context } from '../context.ts';
import { sendMessages } from '../sqs/queue.ts';
import { type SweepCall, type Swept, sweep } from '../table/lists/due.ts';
import { type Purge, purgeFrom, purgePartition } from '../table/purges/purge-items.ts';

/** Sends the messages of purges. A superfluous message does no harm: its worker finds nothing to delete. */
export function sendPurgeMessages(context: Context, purges: readonly Purge[]): Promise<void> {
  return sendMessages(
    context,
    'purges',
    purges.map((purge) => ({ message: purge, delaySeconds: 0 })),
  );
}

/** Sends the messages of purges that are overdue; see `lib/table/lists/due.ts`. */
export function sweepPurges(context: Context, call: SweepCall): Promise<Swept> {
  return sweep(context, [purgePartition], call, (items) => sendPurgeMessages(context, items.map(purgeFrom)));
}

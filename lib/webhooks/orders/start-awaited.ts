import type { Context } from '../../context/context.ts';
import type { Item } from '../../table/access/write.ts';
import { redeliveryKind } from '../../table/deliveries/attempt-items.ts';
import { autoRecoveryFrom, autoRecoveryKind } from '../../table/recoveries/auto-recoveries.ts';
import { recoveryFrom, recoveryKind } from '../../table/recoveries/recoveries.ts';
import { releaseFrom, releaseKind } from '../../table/webhooks/releases.ts';
import { sendAttemptMessages } from '../attempts/attempt-messages.ts';
import { attemptIn } from '../deliveries/listed-attempt.ts';
import { sendOrder } from './send-order.ts';

/** The kinds of items whose creation begins what users wait for. */
const awaitedKinds: readonly unknown[] = [redeliveryKind, recoveryKind, autoRecoveryKind];

/**
 * Returns whether a change begins what users wait for: a new item of some kinds, or a release, which can replace one that is not
 * carried out yet. The sweeper is the second way.
 */
export function isAwaited(before: Item | undefined, after: Item): boolean {
  if (after.kind === releaseKind) return before?.version !== after.version;
  return before === undefined && awaitedKinds.includes(after.kind);
}

/** Starts the work of such an item: sends the message of a requested attempt, or the order to carry on with the rest. */
export async function startAwaited(context: Context, item: Item): Promise<void> {
  const release = releaseFrom(item);
  if (release) return sendOrder(context, release, { kind: 'release', version: release.version });
  if (item.kind === recoveryKind) {
    const recovery = recoveryFrom(item);
    const { id: recoveryId, dueAt } = recovery;
    return dueAt === undefined ? undefined : sendOrder(context, recovery, { kind: 'recovery', recoveryId, dueAt });
  }
  if (item.kind === autoRecoveryKind) return sendOrder(context, autoRecoveryFrom(item), { kind: 'auto-recovery' });
  const attempt = attemptIn(item);
  if (attempt) await sendAttemptMessages(context, [attempt]);
}

import type { Context } from '../../context/context.ts';
import type { Order } from '../../names/messages.ts';
import { releaseParked } from '../attempts/paused-attempts.ts';
import { beginAutoRecovery } from '../recoveries/auto-recovery.ts';
import { continueAfterPause, continueOrdered } from '../recoveries/sweep.ts';

/** How long a worker works on an order at most, in milliseconds. The sweeper does the rest. */
const workMs = 15_000;

/**
 * Carries out an order. It may be received twice, or after the sweeper has done the work: both are safe, as two sweeps are.
 */
export async function carryOut(context: Context, { organization, webhookId, order }: Order): Promise<void> {
  const end = context.clock() + workMs;
  const hasTime = () => context.clock() < end;
  if (order.kind === 'recovery') return continueOrdered(context, { organization, webhookId, ...order }, hasTime);
  if (order.kind === 'auto-recovery') return beginAutoRecovery(context, organization, webhookId);
  await releaseParked(context, { organization, webhookId, version: order.version }, hasTime);
  await continueAfterPause(context, organization, webhookId, hasTime);
  // Its item may have waited before the pause, so that the stream has no new one.
  await beginAutoRecovery(context, organization, webhookId);
}

import type { AllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import { type Sender, type SenderContext, sendToReceiver } from '../../../lib/webhooks/sender/sender.ts';
import { startTimer } from '../../../lib/webhooks/sender/timer.ts';

/** Returns the guarded sender for these receivers, with the timers of the process unless a test gives others. */
export function createTestSender(
  allowedReceivers: AllowedReceivers,
  given: Partial<Pick<SenderContext, 'startTimer' | 'resolve'>> = {},
): Sender {
  return (post) => sendToReceiver({ allowedReceivers, startTimer, ...given }, post);
}

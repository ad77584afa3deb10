import { isIP } from 'node:net';
import type { AllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import type { Resolve } from '../../../lib/webhooks/sender/lookup.ts';
import { type Sender, type SenderContext, sendToReceiver } from '../../../lib/webhooks/sender/sender.ts';
import { startTimer } from '../../../lib/webhooks/sender/timer.ts';

export const late = { httpStatus: 0, timedOut: true, responseBody: '', error: 'No answer within 10 s.' };

export const unresolved = {
  httpStatus: 0,
  timedOut: false,
  error: 'The name of the receiver could not be resolved.',
};

/** Returns the guarded sender for these receivers, with the timers of the process unless a test gives others. */
export function createTestSender(
  allowedReceivers: AllowedReceivers,
  given: Partial<Pick<SenderContext, 'startTimer' | 'resolve'>> = {},
): Sender {
  return (post) => sendToReceiver({ allowedReceivers, startTimer, ...given }, post);
}

/** Creates a resolver that gives one answer after the other, and lists the names that it is asked for. */
export function createTestResolver(...answers: string[][]) {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, _, callback) => {
    const addresses = answers[asked.push(hostname) - 1] ?? [];
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    setImmediate(() => callback(null, found));
  };
  return { asked, resolve };
}

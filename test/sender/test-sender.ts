import { isIP } from 'node:net';
import {
  type ConnectionsOfWebhooks,
  endSharing,
  type KeptConnections,
  shareConnections,
} from '../../lib/sender/kept-connections.ts';
import type { Resolve } from '../../lib/sender/lookup.ts';
import { type Sender, type SenderContext, sendToReceiver } from '../../lib/sender/sender.ts';
import { startTimer } from '../../lib/sender/timer.ts';
import type { AllowedReceivers } from '../../lib/settings/allowed-receivers.ts';

export const late = { httpStatus: 0, timedOut: true, responseBody: '', error: 'No answer within 10 s.' };

export const unresolved = {
  httpStatus: 0,
  timedOut: false,
  error: 'The name of the receiver could not be resolved.',
};

/**
 * Returns the guarded sender for these receivers, with the timers of the process unless a test gives others, and without kept
 * connections unless it gives some.
 */
export function createTestSender(
  allowedReceivers: AllowedReceivers,
  { connections, ...given }: Partial<Pick<SenderContext, 'startTimer' | 'resolve'>> & Kept = {},
): Sender {
  return (post) => sendToReceiver({ allowedReceivers, startTimer, ...given }, post, connections);
}

type Kept = { connections?: KeptConnections };

/** Returns the kept connections of a webhook with two attempts in progress until `end` is called. */
export function createKeptConnections() {
  const all: ConnectionsOfWebhooks = new Map();
  shareConnections(all, 'wh_1');
  const connections = shareConnections(all, 'wh_1');
  const end = () => {
    while (all.size > 0) endSharing(all, 'wh_1');
  };
  return { all, connections, end };
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

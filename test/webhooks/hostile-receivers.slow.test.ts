import { setDefaultCACertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { readAllowedReceivers } from '../../lib/webhooks/allowed-receivers.ts';
import { canary, hostileReceivers } from './hostile-receivers.ts';
import { expectClosed, pem } from './receiver.ts';
import { createTestSender } from './test-sender.ts';
import { prepareTestWebhooks } from './test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
const send = createTestSender(readAllowedReceivers('127.0.0.1:*'));

/** The deadline of an attempt. */
const deadlineMs = 10_000;

// The expired certificate is refused for its time alone.
setDefaultCACertificates([pem('authority')]);

describe('a delivery to a receiver that', () => {
  it.concurrent.for(hostileReceivers)(
    '$name is attempted once and ends by the deadline, and the history says how',
    async ({ start, httpStatus, error, hangs }) => {
      const webhooks = createTestWebhooks();
      const receiver = await start();
      const message = await webhooks.message({ url: receiver.url });
      await webhooks.deliver(message, send);

      const [record, ...more] = await webhooks.history(message.webhookId);
      expect(more).toEqual([]);
      expect(record).toEqual({
        id: message.deliveryId,
        deliveryId: message.deliveryId,
        attempt: 1,
        event: 'task.created',
        httpStatus,
        durationMs: expect.any(Number),
        deliveredAt: expect.any(String),
        redelivery: false,
        ...(error && { error }),
      });
      expect(record?.durationMs).toBeGreaterThanOrEqual(hangs ? deadlineMs - 10 : 0);
      // How exactly the deadline is kept is a test of the sender's own, where no other attempt takes its time.
      expect(record?.durationMs).toBeLessThan(2 * deadlineMs);
      expect(await webhooks.delivery(message)).toMatchObject({ state: error ? 'retrying' : 'delivered' });

      expect(receiver.connections).toHaveLength(1);
      await expectClosed(receiver);
      expect(canary.connections).toEqual([]);
    },
  );
});

import { expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { prepareTestWebhooks, startTime } from '../test-webhooks.ts';

const minuteMs = 60_000;
const webhooks = (await prepareTestWebhooks())();

/** Publishes events until one of them is sampled, and returns its message. */
async function publishSampled(): Promise<DeliveryMessage> {
  for (;;) {
    const [message] = await webhooks.publish();
    if (message?.eventId?.endsWith('0')) return message;
  }
}

it('the sweep counts a sampled event only if it sends a lost message of the event again', async () => {
  await webhooks.register();
  await publishSampled();
  webhooks.clock.now = startTime + 2 * minuteMs;
  expect(await sweepDeliveries(webhooks, { until: webhooks.clock() })).toMatchObject({ woken: 0 });
  webhooks.clock.now = startTime + 20 * minuteMs;
  expect(await sweepDeliveries(webhooks, { until: webhooks.clock() })).toMatchObject({ woken: 1 });
});

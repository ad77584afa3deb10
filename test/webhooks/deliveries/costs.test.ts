import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { isTurnToCount } from '../../../lib/table/deliveries/attempt-counts.ts';
import { leaseSlowAttempt } from '../../../lib/table/deliveries/webhook-attempts.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { meter } from '../../table/fixtures/capacity.ts';
import { expectAtMost } from '../../table/fixtures/cost-limits.ts';
import { failed, notingSender, prepareTestWebhooks, slowAttempts, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
const { costOf } = meter(createTestWebhooks().table);
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const register = () => webhooks.register({ secret: 'a secret' });

/** The messages of a new event, none of which has the attempts of its webhook counted. */
async function publish(): Promise<DeliveryMessage[]> {
  const messages = await webhooks.publish();
  return messages.some(({ deliveryId }) => isTurnToCount(deliveryId)) ? publish() : messages;
}

async function newMessage(): Promise<DeliveryMessage> {
  await register();
  const [message] = await publish();
  return message as DeliveryMessage;
}

it('events of the same name that are published at the same moment cost one read of the subscribers', async () => {
  await webhooks.register();
  const changes = Array.from({ length: 10 }, () => webhooks.change());
  const cost = await costOf(() => Promise.all(changes.map((change) => publishEvents(webhooks, change))));
  expectAtMost(cost, { requests: 2, rounds: 1, rcu: 1, wcu: 10 });
});

describe('an attempt costs', () => {
  it.each([
    ['hardly more than its row where five of a webhook', 1, 5, { requests: 3, rounds: 2, rcu: 12, wcu: 6 }],
    ['a note for each webhook where those of ten', 10, 1, { requests: 12, rounds: 2, rcu: 31, wcu: 20 }],
  ])('%s are made at the same moment', async (_, subscribers, events, limits) => {
    await Promise.all(Array.from({ length: subscribers }, register));
    const messages = (await Promise.all(Array.from({ length: events }, publish))).flat();
    expectAtMost(await costOf(() => Promise.all(messages.map((message) => webhooks.attempt(message)))), limits);
  });

  it('a request and a write unit more for a retry, which is taken off the sweeper’s list', async () => {
    const retry = await webhooks.retry(await newMessage());
    webhooks.clock.now = Date.parse(retry.dueAt);
    const cost = await costOf(() => webhooks.attempt(retry));
    expectAtMost(cost, { requests: 4, rounds: 3, rcu: 5, wcu: 3 });
  });

  it('a request and a write unit more in the queue of slow webhooks, for a lease', async () => {
    const message = { ...(await newMessage()), slow: true } as const;
    const cost = await costOf(() => webhooks.attempt(message, { ...failed, durationMs: 9_000 }));
    expectAtMost(cost, { requests: 4, rounds: 3, rcu: 5, wcu: 3 });
  });

  it('a request and a write unit more when the webhook turns out slow', async () => {
    const message = await newMessage();
    const { send } = notingSender({ ...failed, durationMs: 9_000 }, () => webhooks.timers.at(-1)?.fire());
    const cost = await costOf(() => webhooks.deliver(message, send));
    expectAtMost(cost, { requests: 4, rounds: 3, rcu: 4, wcu: 3 });
  });

  it('a read when it finds no lease and is sent again', async () => {
    const message = { ...(await newMessage()), slow: true } as const;
    const lease = { now: timestamp(webhooks.clock()), until: timestamp(webhooks.clock() + 20_000) };
    for (let number = 0; number < slowAttempts; number++)
      await leaseSlowAttempt(webhooks, webhooks.organization, message.webhookId, { ...lease, number });
    expectAtMost(await costOf(() => webhooks.attempt(message)), { requests: 1, rcu: 5, wcu: 0 });
  });

  it('a read when it is sent on to the queue of slow webhooks', async () => {
    await webhooks.attempt(await newMessage(), { ...failed, timedOut: true });
    const [next] = await publish();
    expectAtMost(await costOf(() => webhooks.attempt(next as DeliveryMessage)), { requests: 1, rcu: 4, wcu: 0 });
    expect(webhooks.queue.sent.at(-1)).toMatchObject({ to: 'slowDeliveries' });
  });
});

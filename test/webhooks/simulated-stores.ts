import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryStore } from '../../lib/table/deliveries.ts';
import type { Delivery } from '../../lib/table/delivery-items.ts';
import type { SlowWebhooks } from '../../lib/table/slow-webhooks.ts';
import type { WebhookStore } from '../../lib/table/webhooks.ts';
import { awsMs } from './simulated-lambda.ts';
import type { SimulatedTime } from './simulated-time.ts';

type Kept = { url: string; slow: boolean; lastDeliveryAt: string; slowLeases: Record<number, string> };

/** The stores of deliveries and webhooks in memory, as far as attempts use them: each request takes the table's time. */
export function simulateStores(time: SimulatedTime) {
  const webhooks = new Map<string, Kept & { organization: Organization }>();
  const deliveries = new Map<string, Delivery>();
  const request = () => time.sleep(awsMs.table);

  const webhookStore: Pick<WebhookStore, 'hearing' | 'target'> & SlowWebhooks = {
    async hearing(organization) {
      await request();
      return [...webhooks].filter(([, webhook]) => webhook.organization === organization).map(([id]) => id);
    },
    async target(_, id) {
      await request();
      const { url, slow, slowLeases } = webhooks.get(id) as Kept;
      return { url, slow, slowLeases: { ...slowLeases } };
    },
    async markSlow(_, id) {
      await request();
      (webhooks.get(id) as Kept).slow = true;
    },
    async leaseSlowAttempt(_, id, { number, now, until }) {
      await request();
      const { slowLeases } = webhooks.get(id) as Kept;
      if ((slowLeases[number] ?? '') > now) return false;
      slowLeases[number] = until;
      return true;
    },
  };

  const deliveryStore: Pick<DeliveryStore, 'put' | 'claim' | 'end'> = {
    async put(delivery) {
      await request();
      deliveries.set(delivery.id, delivery);
      return delivery.state;
    },
    async claim({ id }, attempt, { claim, now, until }) {
      await request();
      const delivery = deliveries.get(id) as Delivery;
      const waits = delivery.state === 'pending' || delivery.state === 'retrying';
      if (!waits || delivery.attempt !== attempt) return undefined;
      if (delivery.nextAttemptAt > now) return { early: delivery };
      if ((delivery.leaseUntil ?? '') > now) return undefined;
      deliveries.set(id, { ...delivery, claim, leaseUntil: until });
      return { claimed: deliveries.get(id) as Delivery };
    },
    async end({ id }, next, { record, slow, slowLease }) {
      await request();
      const { webhookId, claim: _, leaseUntil: __, ...delivery } = deliveries.get(id) as Delivery;
      const webhook = webhooks.get(webhookId) as Kept;
      if (record.deliveredAt > webhook.lastDeliveryAt) {
        webhook.lastDeliveryAt = record.deliveredAt;
        webhook.slow = slow ?? webhook.slow;
        if (slowLease !== undefined) delete webhook.slowLeases[slowLease];
      }
      await request();
      deliveries.set(id, { ...delivery, webhookId, ...next });
    },
  };

  return {
    webhookStore: webhookStore as WebhookStore & SlowWebhooks,
    deliveryStore: deliveryStore as DeliveryStore,
    /** Registers a webhook, the only one of its organization. */
    register: (organization: Organization, id: string, url: string) =>
      void webhooks.set(id, {
        organization,
        url,
        slow: false,
        lastDeliveryAt: timestamp(time.clock()),
        slowLeases: {},
      }),
    delivery: (id: string) => deliveries.get(id) as Delivery,
  };
}

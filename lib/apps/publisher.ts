import type { SentDelivery } from '../deployment/messages.ts';
import { openEventLog } from '../table/event-log.ts';
import { openSubscriptions } from '../table/subscriptions.ts';
import { openPublisher } from '../webhooks/publisher.ts';
import { appOf } from './base.ts';
import { queueOf } from './queues.ts';

/** The app of functions that publish events: to the log, and to the queues of deliveries. */
export const publisherApp = appOf((base) => {
  const { table, clock } = base;
  const parts = {
    events: openEventLog(table),
    webhooks: openSubscriptions(table),
    queues: {
      deliveries: queueOf<SentDelivery>(base, 'deliveries'),
      slowDeliveries: queueOf<SentDelivery>(base, 'slowDeliveries'),
      firstRetry: queueOf<SentDelivery>(base, 'firstRetry'),
      secondRetry: queueOf<SentDelivery>(base, 'secondRetry'),
      thirdRetry: queueOf<SentDelivery>(base, 'thirdRetry'),
    },
    clock,
  };
  return { publisherParts: parts, deliveries: openPublisher(parts) };
});

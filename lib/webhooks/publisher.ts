import type { PublicEvent } from '../contract/events.ts';
import type { Organization } from '../contract/organization.ts';
import { requestFields } from '../request-context.ts';
import type { EventLog } from '../table/event-log.ts';
import type { Subscriptions } from '../table/subscriptions.ts';
import { eventIdOf } from './derived-ids.ts';
import { firstAttempts } from './first-attempts.ts';
import { type DeliveryQueues, openWakeUps } from './wake-ups.ts';

/** What a publisher works with. */
export type PublisherParts = {
  events: EventLog;
  webhooks: Subscriptions;
  queues: DeliveryQueues;
  clock: () => number;
};

/** What happened to an item: which version of it, and the events that are told of it. */
export type Change = { organization: Organization; item: string; version: number; events: PublicEvent[] };

/** Opens what publishes events. Apart from the attempts, so that functions that make none do not carry them. */
export function openPublisher({ events, webhooks, queues, clock }: PublisherParts) {
  const wakeUps = openWakeUps(queues, clock);
  return {
    /**
     * Appends the events of a change to the log, then sends a message for each webhook that hears one and was registered
     * when it happened.
     */
    async publish({ organization, item, version, events: told }: Change): Promise<void> {
      await Promise.all(
        told.map(async ({ event, data }) => {
          const id = eventIdOf(Date.parse(data.occurredAt), { item, version, event });
          const logged = { organization, id, event, item, version, ...requestFields(), data: JSON.stringify(data) };
          const [messages] = await Promise.all([firstAttempts(logged, webhooks), events.append(logged)]);
          await wakeUps.send(messages);
        }),
      );
    },

    /** Sends the messages of attempts again; for those that were lost. */
    wake: wakeUps.send,
  };
}

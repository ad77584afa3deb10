import type { Organization } from '../contract/organization.ts';
import type { DeliveryMessage } from '../deployment/messages.ts';
import type { AttemptLog } from '../table/attempt-log.ts';
import type { EventLog, LoggedEvent } from '../table/event-log.ts';
import type { Subscriptions } from '../table/subscriptions.ts';
import { firstAttempts } from './first-attempts.ts';

/** An attempt that waits so long past the moment when it was due, in milliseconds, is taken for lost. */
const lostAfterMs = 15 * 60_000;

/** The deliveries of an event: how many there are, and the next attempt of each that has not come to its end. */
export type EventDeliveries = { deliveries: number; underWay: DeliveryMessage[] };

/** The deliveries of all events of some time. */
export type Compared = {
  events: number;
  deliveries: number;
  /** Attempts that are not due, or that have not waited for long. */
  waiting: DeliveryMessage[];
  /** Attempts that have waited so long that their messages must be taken for lost. */
  lost: DeliveryMessage[];
};

/** How many events are compared side by side. */
const atOnce = 100;

/** What the verification reads. */
export type VerificationParts = {
  events: Pick<EventLog, 'between'>;
  attempts: Pick<AttemptLog, 'next'>;
  webhooks: Subscriptions;
};

/**
 * Opens the conservation check: it compares the event log and the subscriptions with the attempt log. Every event has to
 * come to every webhook that hears it and was registered when it happened.
 */
export function openVerification({ events, attempts, webhooks }: VerificationParts) {
  return {
    deliveriesOf,

    /**
     * Compares the events of an organization from one moment to another, both in milliseconds since 1970.
     *
     * @param now decides what is lost
     * @param tell how many events were compared so far
     */
    async compare(
      organization: Organization,
      { from, to, now }: { from: number; to: number; now: number },
      tell: (events: number) => void = () => {},
    ): Promise<Compared> {
      const compared: Compared = { events: 0, deliveries: 0, waiting: [], lost: [] };
      for await (const some of inGroups(events.between(organization, from, to), atOnce)) {
        for (const { deliveries, underWay } of await Promise.all(some.map(deliveriesOf))) {
          compared.deliveries += deliveries;
          for (const message of underWay) (isLost(message, now) ? compared.lost : compared.waiting).push(message);
        }
        compared.events += some.length;
        tell(compared.events);
      }
      return compared;
    },
  };

  /** Compares an event with the attempts at its deliveries. */
  async function deliveriesOf(event: LoggedEvent): Promise<EventDeliveries> {
    const first = await firstAttempts(event, webhooks);
    const next = await Promise.all(first.map(attempts.next));
    return { deliveries: first.length, underWay: next.filter((message) => message !== undefined) };
  }
}

export type Verification = ReturnType<typeof openVerification>;

/** Whether the message of an attempt must be taken for lost: it is due, and has been for long. */
export function isLost({ dueAt }: DeliveryMessage, now: number): boolean {
  return now - Date.parse(dueAt) >= lostAfterMs;
}

async function* inGroups<Entry>(entries: AsyncIterable<Entry>, size: number): AsyncGenerator<Entry[]> {
  let group: Entry[] = [];
  for await (const entry of entries) {
    if (group.push(entry) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

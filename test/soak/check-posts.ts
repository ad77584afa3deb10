import { ulidOf } from '../../lib/contract/ids.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import type { LoggedEvent } from '../../lib/table/deliveries/event-log.ts';
import { aboutOf, type Delivery, deliveriesOf } from './check-deliveries.ts';
import type { Evidence, WebhookEvidence } from './evidence.ts';
import type { Post } from './receivers.ts';

/** The longest time from a post to its first record: 10 s for the post, and time to begin. In milliseconds. */
const firstWriteMs = 20_000;

/** The longest time from the end of a post to its record without a fault, in milliseconds. */
const writtenWithinMs = 5_000;

/** The largest difference between the start of an attempt by its record and by its post, in milliseconds. */
const momentMs = 5_000;

/**
 * Compares a receiver's log with the history: each delivered event was received, always with one id, and each post without
 * a recorded attempt was under way at a fault.
 */
export function checkPosts(
  webhook: WebhookEvidence,
  events: readonly LoggedEvent[],
  faults: Faults,
): { lost: string[]; duplicates: number } {
  const received = Map.groupBy(webhook.posts, ({ deliveryId }) => deliveryId);
  const beyond: Post[] = [];
  const lost: string[] = [];
  for (const delivery of deliveriesOf(webhook, events)) {
    const compared = compare(received.get(delivery.id) ?? [], delivery.attempts);
    beyond.push(...compared.beyond);
    lost.push(...strangers(delivery, received.get(delivery.id) ?? []), ...untaken(delivery, compared.seen));
    lost.push(
      ...compared.unseen.map((one) => `${one.id} records a response of ${one.httpStatus} that no receiver has sent`),
    );
    received.delete(delivery.id);
  }
  lost.push(...[...received.keys()].map((id) => `${id} was received and is no delivery`));
  lost.push(...beyond.filter((post) => !isExplained(post, faults)).map(wordsForUnexplained));
  return { lost, duplicates: beyond.length };
}

/** The faults that can explain a second post. */
type Faults = Pick<Evidence, 'interruptions' | 'disturbed'>;

/** The posts of recorded attempts, the posts without a record, and the records of responses that no receiver sent. */
type Compared = { seen: Post[]; beyond: Post[]; unseen: DeliveryRecord[] };

/** Finds each recorded attempt's post: the last one with its answer that was sent before the attempt's end. */
function compare(posts: readonly Post[], attempts: readonly DeliveryRecord[]): Compared {
  const beyond = posts.toSorted((a, b) => b.sentAt - a.sentAt);
  const seen: Post[] = [];
  const unseen: DeliveryRecord[] = [];
  const take = ({ deliveredAt }: DeliveryRecord, isIts: (post: Post) => boolean) => {
    const at = beyond.findIndex((post) => post.sentAt <= Date.parse(deliveredAt) && isIts(post));
    if (at >= 0) seen.push(...beyond.splice(at, 1));
    return at >= 0;
  };
  const { answered = [], without = [] } = Object.groupBy(attempts, (one) => (one.httpStatus ? 'answered' : 'without'));
  for (const record of answered.toSorted((a, b) => a.attempt - b.attempt))
    if (!take(record, ({ status }) => status === record.httpStatus)) unseen.push(record);
  // An attempt without a response may not have reached its receiver: it takes no post of an earlier attempt.
  for (const record of without) {
    const beganAt = Date.parse(record.deliveredAt) - record.durationMs;
    take(record, ({ sentAt }) => sentAt > beganAt - momentMs);
  }
  return { seen, beyond, unseen };
}

/** Returns the posts with a delivery's id that have another event. */
function strangers({ id, event: logged }: Delivery, posts: readonly Post[]): string[] {
  if (!logged) return [];
  const { event, data } = logged;
  const about = aboutOf(data);
  return posts
    .filter((post) => post.event !== event || post.about.id !== about.id || post.about.status !== about.status)
    .map((post) => `${id} of ${event} ${about.id} was received as ${post.event} ${post.about.id} ${post.about.status}`);
}

function untaken({ id, state }: Delivery, posts: readonly Post[]): string[] {
  const taken = posts.some(({ status }) => status >= 200 && status < 300);
  return state !== 'delivered' || taken ? [] : [`${id} is delivered and its receiver has not taken it`];
}

/** Whether a post was under way when the service was killed or stopped, or when a write of its delivery was disturbed. */
function isExplained({ deliveryId, sentAt, endedAt }: Post, faults: Faults): boolean {
  return (
    faults.interruptions.some(({ from, to }) => from <= endedAt + writtenWithinMs && to >= sentAt) ||
    faults.disturbed.some(
      ({ at, body }) => at >= sentAt && at <= sentAt + firstWriteMs && body.includes(ulidOf(deliveryId)),
    )
  );
}

function wordsForUnexplained({ deliveryId, sentAt }: Post): string {
  const at = new Date(sentAt).toISOString();
  return `${deliveryId} was posted at ${at} without a record, and no fault explains it`;
}

import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Delivery } from '../../../lib/contract/webhooks/webhooks.ts';
import { longestDelaySeconds } from '../../../lib/names/queues.ts';
import { readRetrySchedule } from '../../../lib/settings/retry-schedule.ts';
import { clocksDifferMs } from '../../../lib/table/access/clocks.ts';
import { activeSince, isPausedAt, type Pause } from '../../../lib/table/webhooks/pauses.ts';
import { readWebhook } from '../../../lib/table/webhooks/webhooks.ts';
import { getDelivery } from '../../../lib/webhooks/delivery-details.ts';
import { listDeliveries } from '../../../lib/webhooks/webhooks.ts';
import { startTime } from '../test-webhooks.ts';
import type { Sequence, Step } from './sequence.ts';
import { attemptLimits, deliveryOf, type Received, type TestEvent, type TestWebhook, type World } from './world.ts';

const minuteMs = 60_000;

/** The time in which as many attempts are booked as a webhook may get in a second, in milliseconds. */
const slotMs = 1_080;
const retrySchedule = readRetrySchedule(undefined);

/** How long before a post its worker may have taken the lease, or read the webhook, in milliseconds. */
const beforePostMs = 6_000;

/** How long after the start of a pause a worker may send a request that it has prepared before, in milliseconds. */
const pausesWithinMs = 3_000;

/** The longest time until the lease of an attempt whose process has died is free, and the next start of the process; in ms. */
const leasesMs = 25_000;

/** How long after it was due a delivery without an attempt can be requested again, in milliseconds. */
const lostAfterMs = 2 * minuteMs;

/** How much later attempts can be that an order and a sweep send at the same time, each with a delay of whole seconds, in ms. */
const sentAgainMs = 5_000;

/** How long a webhook whose receiver is slow may still have attempts from before, in milliseconds. */
const becomesSlowMs = 35_000;

const isSuccess = ({ mode }: Received) => mode === 'healthy' || mode === 'slow';

/**
 * Returns what is wrong with the posts: their rates, their number at a time, their signatures, and those to webhooks without
 * subscription.
 */
export function checkPosts(world: World): string[] {
  return world.webhooks.flatMap((webhook) => {
    const posts = world.received.filter((post) => post.webhook === webhook);
    return [
      ...tooFast(world, webhook, posts),
      ...tooMany(webhook, posts),
      ...notSigned(webhook, posts),
      ...notSubscribed(world, webhook, posts),
      ...afterCancellation(world, webhook, posts),
      ...afterEnd(webhook, posts),
    ];
  });
}

function tooFast({ clockSteps }: World, { id, rates }: TestWebhook, posts: Received[]): string[] {
  for (const { begunAt } of posts) {
    const isStepped = clockSteps.some(({ at }) => at > begunAt - 2 * beforePostMs && at < begunAt + beforePostMs);
    const applied = rates.filter(
      ({ from }, at) =>
        from <= begunAt + 1_000 && (rates[at + 1]?.from ?? Number.POSITIVE_INFINITY) >= begunAt - beforePostMs,
    );
    const most = Math.max(...applied.flatMap(({ any }) => any.map((rate) => rate ?? Number.POSITIVE_INFINITY)));
    const inSecond = posts.filter((other) => other.begunAt >= begunAt && other.begunAt < begunAt + 1_000).length;
    if (inSecond > most && !isStepped)
      return [`${id} got ${inSecond} posts in the second from ${begunAt}, at a rate of at most ${most}`];
  }
  return [];
}

function tooMany({ id }: TestWebhook, posts: Received[]): string[] {
  for (const post of posts) {
    if (post.slowSince === undefined || post.begunAt - post.slowSince < becomesSlowMs) continue;
    const running = posts.filter(
      ({ begunAt, endsAt, handling }) => begunAt <= post.begunAt && endsAt > post.begunAt && !handling.process.dead,
    ).length;
    if (running > attemptLimits.slow) return [`${id}, which is slow, got ${running} posts at the same time`];
  }
  return [];
}

/** After a rotation, each post is signed with the new secret, or with one that may have replaced it. */
function notSigned({ id, secrets }: TestWebhook, posts: Received[]): string[] {
  const isWrong = ({ begunAt, signedWith }: Received) => {
    const stored = secrets.filter(({ storedAt }) => storedAt < begunAt - beforePostMs);
    const current = secrets.filter(({ storedAt }) => !stored.some(({ from }) => from > storedAt));
    return stored.length > 0 && !current.some(({ text }) => signedWith.includes(text));
  };
  return posts.some(isWrong) ? [`${id} got a post without the signature of its secret`] : [];
}

function notSubscribed({ events }: World, webhook: TestWebhook, posts: Received[]): string[] {
  const own = events.filter(({ event }) => webhook.events.includes(event));
  const expected = new Set(own.map((event) => deliveryOf(event, webhook)));
  const isOther = posts.some(({ deliveryId }) => !expected.has(deliveryId));
  return isOther ? [`${webhook.id} got a post of an event to which it is not subscribed`] : [];
}

/** No attempt of a recovery begins two seconds after the answer that it is cancelled. */
function afterCancellation({ cancelled }: World, { id }: TestWebhook, posts: Received[]): string[] {
  const isAfter = ({ begunAt, handling }: Received) =>
    begunAt > (cancelled.get(handling.message.recovery ?? '') ?? Number.POSITIVE_INFINITY) + 2_000;
  return posts.some(isAfter) ? [`${id} got a post of a recovery after it was cancelled`] : [];
}

function afterEnd({ id, deletedAt = Number.POSITIVE_INFINITY }: TestWebhook, posts: Received[]): string[] {
  return posts.some(({ begunAt }) => begunAt > deletedAt + beforePostMs) ? [`${id} got a post after its deletion`] : [];
}

/** Returns whether an event is from after the registration of the webhooks, by clocks that may differ. */
const isSubscribed = ({ time }: TestEvent) => time >= startTime - clocksDifferMs;

/** A delivery at the end, with its event, its webhook, and its posts, oldest first. */
type Ended = { delivery: Delivery; event: TestEvent; webhook: TestWebhook; posts: Received[] };

/** Returns whether a webhook got a post long after the start of a pause. After a step of the clock, the times do not tell. */
function whilePaused({ received, clockSteps }: World, { id }: TestWebhook, pauses: readonly Pause[]): string[] {
  if (clockSteps.length > 0) return [];
  const isIn = ({ begunTime }: Received) =>
    pauses.some(
      ({ from, until = '' }) => begunTime > Date.parse(from) + pausesWithinMs && begunTime < Date.parse(until),
    );
  return received.some((post) => post.webhook.id === id && isIn(post)) ? [`${id} got a post in a pause`] : [];
}

/** Returns what is wrong with the deliveries at the end of a sequence, and what it has left in the table. */
export async function checkEnd(world: World, sequence: Sequence, healedAt: number): Promise<string[]> {
  return checkDeliveries(world, (ended) => [
    ...faultsOfState(ended),
    ...faultsOfArrival(world, sequence, healedAt, ended),
  ]);
}

/** Returns the deliveries that have not arrived after a recovery of everything, and deliveries that are wrong otherwise. */
export async function checkRecovered(world: World): Promise<string[]> {
  return checkDeliveries(world, ({ delivery: { state }, posts }) => [
    ...(state === 'delivered' ? [] : [`is ${state} after a recovery`]),
    ...(posts.some(isSuccess) ? [] : ['has not arrived after a recovery']),
  ]);
}

/** Returns what is wrong with each delivery to a webhook that is not deleted, and with the histories of these webhooks. */
async function checkDeliveries(world: World, faultsOf: (ended: Ended) => string[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const webhook of world.webhooks) {
    const stored = await readWebhook(world.reader, world.organization, webhook.id);
    if (!stored) continue;
    let attempts = 0;
    for (const event of world.events.filter(({ event }) => webhook.events.includes(event))) {
      const name = deliveryOf(event, webhook);
      const posts = world.received.filter(({ deliveryId }) => deliveryId === name);
      const delivery = await read(world, webhook, name);
      if (typeof delivery === 'string') {
        if (isSubscribed(event)) wrong.push(`${name} cannot be read: ${delivery}`);
        continue;
      }
      attempts += delivery.attempts.length;
      const ended = { delivery, event, webhook, posts };
      wrong.push(...[...faultsOf(ended), ...faultsOfAttempts(world, ended)].map((fault) => `${name} ${fault}`));
    }
    wrong.push(
      ...whilePaused(world, webhook, stored.pauses ?? []),
      ...(await faultsOfHistory(world, webhook, attempts)),
    );
  }
  return [...wrong, ...leftovers(world)];
}

async function read(
  { reader, organization }: World,
  { id }: TestWebhook,
  deliveryId: string,
): Promise<Delivery | string> {
  return getDelivery(reader, organization, { webhookId: id, deliveryId }).catch(String);
}

/** A delivery has ended, and has arrived unless its receiver failed or its webhook was paused. */
function faultsOfState({ delivery: { state, attempts }, event, webhook, posts }: Ended): string[] {
  if (state === 'pending' || state === 'retrying') return [`is ${state} although nothing is left to do`];
  if (state === 'skipped')
    return isInPause(webhook, event) && attempts.length === 0 ? [] : ['is skipped for no reason'];
  if (state === 'delivered') return posts.some(isSuccess) ? [] : ['is delivered but has not arrived'];
  const failures = posts.filter((post) => !isSuccess(post)).length;
  return failures > retrySchedule.length ? [] : [`is exhausted after ${failures} failures of its receiver`];
}

/** Attempts have numbers without gaps and ids of their own, and an attempt that is made twice has a reason for it. */
function faultsOfAttempts(
  { clockSteps }: World,
  { delivery: { attempts, deliveryId }, webhook, posts }: Ended,
): string[] {
  const faults: string[] = [];
  // After a step back, a retry is made when its message is received, which the queue delays only for so long.
  const longestMs = clockSteps.some(({ ms }) => ms < 0) ? longestDelaySeconds * 1_000 : Number.POSITIVE_INFINITY;
  const numbers = attempts.map(({ attempt }) => attempt);
  if (numbers.some((number, at) => number !== at + 1)) faults.push(`has the attempts ${numbers}`);
  if (new Set(attempts.map(({ id }) => id)).size < attempts.length) faults.push('has two attempts of one id');
  const success = attempts.findIndex(({ error }) => error === undefined);
  if (success >= 0 && success < attempts.length - 1 && !webhook.requested.has(deliveryId))
    faults.push('went on after a success');
  const repeated = posts.filter((post, at) => {
    const earlier = posts
      .slice(0, at)
      .filter(({ handling }) => handling.message.attempt === post.handling.message.attempt);
    return earlier.length > 0 && !earlier.some((other) => explains(other, post));
  });
  for (const [at, post] of posts.entries()) {
    const last = posts
      .slice(0, at)
      .findLast(({ handling }) => handling.message.attempt === post.handling.message.attempt - 1);
    const isRetry =
      !post.handling.message.redelivery && post.handling.message.attempt !== post.handling.message.scheduleStart;
    // After a step of the clock, a retry is early by one of the clocks.
    const [passed, passedTime] = last ? [post.begunAt - last.begunAt, post.begunTime - last.begunTime] : [0, 0];
    if (last && isRetry && Math.max(passed, passedTime) < Math.min(retryMs(last), longestMs))
      faults.push('was posted again too early');
  }
  if (repeated.length > 0)
    faults.push(`was posted again as attempt ${repeated[0]?.handling.message.attempt} without need`);
  return faults;
}

/** Returns whether a post of the same attempt explains that a later one was sent: its result was lost, or not there yet. */
function explains({ handling, endsAt }: Received, later: Received): boolean {
  const isElsewhere = handling.process !== later.handling.process;
  return handling.end !== 'done' || (isElsewhere && endsAt >= later.begunAt);
}

async function faultsOfHistory(
  { reader, organization, clockSteps }: World,
  { id }: TestWebhook,
  attempts: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = await listDeliveries(reader, organization, id, { limit: 100, offset }).catch(String);
    if (typeof page === 'string') return [`The history of ${id} cannot be read: ${page}`];
    ids.push(...page.items.map((item) => item.id));
    if (page.items.length === 0) {
      if (page.total !== ids.length)
        return [`The history of ${id} has ${ids.length} attempts, and counts ${page.total}`];
      break;
    }
  }
  // Two workers that make one attempt at the same time, before and after a long step of the clock, write two rows.
  if (clockSteps.some(({ ms }) => Math.abs(ms) >= minuteMs)) return [];
  if (new Set(ids).size < ids.length) return [`The history of ${id} has an attempt twice`];
  return ids.length === attempts ? [] : [`The history of ${id} has ${ids.length} attempts, its deliveries ${attempts}`];
}

/** Returns what waits in the table although there is nothing to wait for. */
function leftovers({ table, webhooks, clockSteps }: World): string[] {
  // After a step back, a lease seems to last longer than any can.
  const now = clockSteps.length > 0 ? Number.POSITIVE_INFINITY : Date.now();
  const alive = new Set(webhooks.filter(({ deletedAt }) => deletedAt === undefined).map(({ id }) => id.slice(3)));
  return table.items().flatMap((item) => {
    const { pk, sk } = item as { pk: string; sk: string };
    const name = `${pk} ${sk}`;
    if (item.due !== undefined) return [`${name} is due at ${item.dueAt}`];
    if (/^P#/.test(sk) || /#WP$/.test(pk)) return [`${name} is left`];
    if (!alive.has(sk)) return [];
    const waits = Object.entries(item).filter(
      ([attribute, until]) =>
        (attribute === 'bookedUntil' && (until as number) > now) ||
        (/^slowLease/.test(attribute) && Date.parse(until as string) > now),
    );
    return waits.map(([attribute, until]) => `${name} keeps ${attribute} ${until}`);
  });
}

/**
 * Returns whether a delivery has arrived too late after the receivers are healthy. What must pass before: the time that the
 * maximum rate needs for all that waits, the sweeps that find what waits, and the documented delays.
 */
function faultsOfArrival(
  { received, clockSteps }: World,
  { deployment, steps }: Sequence,
  healedAt: number,
  { event, webhook, posts }: Ended,
): string[] {
  const arrival = posts.find(isSuccess);
  if (!arrival || arrival.begunAt < healedAt) return [];
  const done = (...names: Step['does'][]) => steps.some(({ does }) => names.includes(does));
  const wasPaused = done('pause', 'pause and resume');
  const wasSlow = steps.some((step) => step.does === 'set receiver' && /slow|hanging/.test(step.mode));
  const lastRates = webhook.rates.at(-1)?.any ?? [];
  const rate = Math.min(...lastRates.map((one) => one ?? Number.POSITIVE_INFINITY));
  const others = received.filter((post) => post.webhook.id === webhook.id && post.begunAt < arrival.begunAt);
  const waiting = others.filter((post) => post.begunAt >= healedAt).length + 1;
  const before = posts.slice(0, posts.indexOf(arrival));
  const last = before.at(-1);
  const dueAt = last ? last.endsAt + retryMs(last) : event.at;
  // The worker of an event may have seen a pause without an end that began before it. It waits then.
  const from = Math.max(healedAt, dueAt, isInPause(webhook, event, 1_000) ? event.at + 91_000 : 0);
  const slackMs =
    10_000 +
    (wasPaused || done('redeliver', 'set rate') ? minuteMs + sentAgainMs : 0) +
    (done('recover', 'cancel') ? 3 * minuteMs : 0) +
    // A recovery that the service begins can wait for ten minutes, and one of its sweeps can be lost.
    (webhook.autoRecover ? 14 * minuteMs : 0) +
    steps.reduce((sum, step) => sum + longestDelayOf(step, deployment, wasSlow), 0) +
    clockSteps.reduce((sum, { ms }) => sum + stepDelayOf(ms, { isRetry: last !== undefined, wasSlow }), 0) +
    (wasSlow ? 0.6 * Math.max(0, healedAt - dueAt) + minuteMs / 2 : 0);
  const rateMs = (waiting * slotMs) / rate;
  // Nothing waits for longer than the others need, and not while the receiver gets nothing.
  const idleFrom = Math.max(from, ...others.map(({ begunAt }) => begunAt));
  const regular = Math.min(from + rateMs, idleFrom) + slackMs;
  // An attempt that has just become late waits until no other worker can be making it. So do older ones, whose turns pass.
  const overtakes = received.some(
    ({ webhook: { id }, begunAt, deliveryId }) =>
      id === webhook.id && begunAt > arrival.begunAt && deliveryId < arrival.deliveryId,
  );
  const latest = regular + (regular > dueAt + minuteMs || overtakes ? 31_000 : 0);
  const [lateMs, tooLateMs] = [arrival.begunAt - from, arrival.begunAt - latest];
  if (tooLateMs <= 0) return [];
  return [`arrived ${seconds(lateMs)} after it could have, ${seconds(tooLateMs)} too late`];
}

/** Returns whether an event is of a time when its webhook may have been paused, or `afterMs` later. */
function isInPause({ pauses }: TestWebhook, { at }: TestEvent, afterMs = 0): boolean {
  return pauses.some(({ from, until }) => at >= from && at <= until + afterMs);
}

/**
 * Returns how much later a step of the clock makes an attempt, at most. After a step back, a retry waits for its step of the
 * schedule, but a first attempt for nothing. After a step forward, an attempt to a slow receiver seems to have waited for long,
 * so that it tries again later; another one only finds that it has missed its booked time.
 */
function stepDelayOf(ms: number, { isRetry, wasSlow }: { isRetry: boolean; wasSlow: boolean }): number {
  if (ms < 0) return minuteMs + (isRetry ? -ms : 0);
  return wasSlow ? minuteMs + ms : minuteMs / 2;
}

/**
 * Returns how much later a fault makes what it interrupts, at most. In AWS a message is visible again after three minutes.
 * An item that a sweep has taken is due again after five, and a lost message is found in 15, or in 95 for a slow receiver.
 * The local service sends all that waits when it starts again; then only the leases of its dead attempts are left.
 */
function longestDelayOf(step: Step, deployment: Sequence['deployment'], wasSlow: boolean): number {
  if (step.does === 'lose') return deployment === 'aws' ? (wasSlow ? 95 : 16) * minuteMs : 0;
  if (!/^(strike|crash|stop)$/.test(step.does)) return 0;
  const isEnd = step.does !== 'strike' || step.how === 'dies';
  return deployment === 'local' && isEnd ? leasesMs : 9 * minuteMs;
}

/**
 * Returns the deliveries of a webhook that callers can request although they have no attempt: the webhook was active for two
 * minutes, their events are as old, and no item of the table leads to an attempt. Their messages are likely to be lost.
 */
export async function readLost(
  { reader, organization, table, clockSteps, events }: World,
  webhook: TestWebhook,
  of: readonly TestEvent[] = events,
): Promise<string[]> {
  const stored = await readWebhook(reader, organization, webhook.id);
  const before = Date.now() - lostAfterMs;
  if (!stored || activeSince(stored) > before || clockSteps.length > 0) return [];
  const items = table.items();
  const logged = new Set(items.map(({ sk }) => sk));
  const known = new Set(items.map(({ deliveryId }) => deliveryId));
  return of
    .filter(({ id, event }) => logged.has(ulidOf(id)) && webhook.events.includes(event))
    .filter(({ time }) => time <= before && !isPausedAt(stored, time))
    .map((event) => deliveryOf(event, webhook))
    .filter((deliveryId) => !known.has(deliveryId));
}

/** Returns the time from the end of a failed post to the retry. */
const retryMs = ({ handling: { message } }: Received): number =>
  retrySchedule[message.attempt - (message.scheduleStart ?? 1)] ?? 0;

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Context } from '../../../../lib/context/context.ts';
import { ulidFrom } from '../../../../lib/contract/ids.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import type { TaskEvent } from '../../../../lib/contract/webhooks/events.ts';
import { type EventFilter, followEvents } from '../../../../lib/table/events/event-feed.ts';
import type { LoggedEvent } from '../../../../lib/table/events/event-log.ts';
import { createLogClock } from '../../../../lib/table/events/log-clock.ts';
import { eventIdOf } from '../../../../lib/webhooks/attempts/derived-ids.ts';
import { type Change, publishEvents } from '../../../../lib/webhooks/deliveries/publish-events.ts';
import { fc, testSeed } from '../../../seeded.ts';
import type { Service } from '../../../service.ts';
import { interceptTable } from '../../../table/fixtures/intercepted-table.ts';
import { createChange, startTime } from '../../test-webhooks.ts';
import { createVirtualTime, type VirtualTime } from '../virtual-time.ts';

/** Half of the difference of clocks that followers allow, in milliseconds. */
export const mostSkewMs = 125;

const beginning = `ev_${'0'.repeat(26)}`;
const names = ['task.created', 'task.completed'] as const;

/** How long requests take on their way to the table and back, in turn, in milliseconds. */
const delays = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 120 }) },
    { weight: 1, arbitrary: fc.integer({ min: 200, max: 3_000 }) },
  ),
  { minLength: 30, maxLength: 30 },
);
const skew = fc.integer({ min: -mostSkewMs, max: mostSkewMs });

/** A shard of the stream: its changes, and how its publisher works. */
const shard = fc.record({
  /** When each change is made, and how far ahead the clock of the function is that made it. */
  changes: fc.array(fc.record({ at: fc.nat(4_000), ahead: fc.integer({ min: -1_500, max: 400 }), name: fc.nat(1) }), {
    minLength: 1,
    maxLength: 12,
  }),
  batch: fc.integer({ min: 1, max: 5 }),
  /** How long the stream holds a batch back. */
  heldMs: fc.array(fc.oneof(fc.nat(300), fc.nat(2_500)), { minLength: 3, maxLength: 3 }),
  /** After how many requests the publisher of a batch dies, batch by batch; then the batch is repeated. */
  deaths: fc.array(fc.option(fc.nat(4), { nil: undefined }), { maxLength: 4 }),
  /** Whether a batch comes again after it was published. */
  repeats: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  reversed: fc.boolean(),
  skew,
  delays,
});

const follower = fc.record({
  limit: fc.constantFrom(1, 2, 50),
  filter: fc.constantFrom<EventFilter>({}, {}, { event: 'task.completed' }),
  everyMs: fc.array(fc.nat(900), { minLength: 4, maxLength: 4 }),
  skew,
  delays,
});

/** How long after the last batch the followers read the rest: positions can be 30 s ahead. In milliseconds. */
const quietMs = 60_000;

/** The service whose table the publishers and followers of a simulation use. */
export type Simulated = Pick<Service, 'app' | 'table'>;

/** Returns a context whose clock differs from the time, and whose requests take time; `die` can stop it. */
function processOf(
  { app, table: real }: Simulated,
  time: VirtualTime,
  { skew, delays }: { skew: number; delays: readonly number[] },
  dies: () => boolean = () => false,
): Context {
  let requests = 0;
  const delay = () => time.wait(delays[requests++ % delays.length] as number);
  const table = interceptTable(real, async (send) => {
    if (dies()) return new Promise(() => {});
    await delay();
    const answer = await time.real(send);
    await delay();
    return answer;
  });
  const clock = () => Math.round(time.now() + skew);
  const monotonic = () => time.now();
  return {
    ...app,
    batchers: {},
    queues: new Map([['deliveries', async () => {}]]),
    clock,
    monotonic,
    logClock: createLogClock(clock, monotonic),
    table: { ...table, sleep: (ms) => time.wait(ms) },
  };
}

export type Shard = typeof shard extends fc.Arbitrary<infer One> ? One : never;
export type Follower = typeof follower extends fc.Arbitrary<infer One> ? One : never;

/** Publishes the changes of a shard in order, batch by batch. */
async function publishShard(
  service: Simulated,
  time: VirtualTime,
  organization: Organization,
  shard: Shard,
): Promise<LoggedEvent[]> {
  const changes = shard.changes
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, ahead, name }, nth): { change: Change; at: number } => {
      const item = `tk_${ulidFrom(startTime + nth, new TextEncoder().encode(randomUUID()))}`;
      const event = names[name] as TaskEvent['event'];
      return { at: startTime + at, change: createChange(organization, event, startTime + at + ahead, item) };
    });
  for (let from = 0, nth = 0; from < changes.length; from += shard.batch, nth++) {
    const batch = changes.slice(from, from + shard.batch);
    const readyAt = (batch.at(-1) as { at: number }).at + (shard.heldMs[nth % 3] as number);
    await time.wait(Math.max(0, readyAt - time.now()));
    for (let times = shard.repeats[nth % 3] ? 2 : 1; times > 0; ) if (await publishBatch(nth, batch)) times--;
  }
  return changes.map(({ change: { item, events } }) => {
    const [{ event, data }] = events as [TaskEvent];
    const id = eventIdOf(Date.parse(data.occurredAt), { item, version: 1, event });
    return { organization, id, event, item, version: 1, data: JSON.stringify(data) };
  });

  /** Publishes a batch once; returns whether its publisher lived to its end. */
  async function publishBatch(nth: number, batch: { change: Change }[]): Promise<boolean> {
    let remaining = shard.deaths[nth] ?? Number.POSITIVE_INFINITY;
    shard.deaths[nth] = undefined;
    const dead = Promise.withResolvers<boolean>();
    const worker = processOf(service, time, shard, () => {
      if (remaining-- > 0) return false;
      dead.resolve(false);
      return true;
    });
    const ordered = shard.reversed ? batch.toReversed() : batch;
    const published = Promise.all(ordered.map(({ change }) => publishEvents(worker, change)));
    return Promise.race([published.then(() => true), dead.promise]);
  }
}

/** Follows the log until all positions are visible; returns the ids of all pages. */
async function follow(
  service: Simulated,
  time: VirtualTime,
  organization: Organization,
  { limit, filter, everyMs, ...rest }: Follower,
  isPublished: () => boolean,
): Promise<string[]> {
  const process = processOf(service, time, rest);
  const seen: string[] = [];
  let after = beginning;
  for (let polls = 0; ; polls++) {
    const last = isPublished();
    if (last) await time.wait(quietMs);
    const { items, next } = await followEvents(process, organization, { after, limit, filter });
    expect(items.length).toBeLessThanOrEqual(limit);
    expect((next as string) >= after).toBe(true);
    // A page with events moves a follower on, so it reaches the end.
    if (items.length > 0) expect(next).not.toBe(after);
    seen.push(...items.map(({ id }) => id));
    after = next as string;
    if (last && items.length === 0) return seen;
    if (!last) await time.wait(everyMs[polls % 4] as number);
  }
}

/** Publishes the changes of shards while followers follow; returns the events, and the ids that each follower has seen. */
export async function simulate(
  service: Simulated,
  shards: readonly Shard[],
  followers: readonly Follower[],
): Promise<{ events: LoggedEvent[]; seen: string[][] }> {
  const time = createVirtualTime(startTime);
  const organization = `org-${randomUUID()}` as Organization;
  let published = false;
  const publishing = Promise.all(shards.map((one) => publishShard(service, time, organization, one))).finally(() => {
    published = true;
  });
  const following = Promise.all(followers.map((one) => follow(service, time, organization, one, () => published)));
  await time.run(Promise.all([publishing, following]));
  return { events: (await publishing).flat(), seen: await following };
}

/** Checks that followers see every event that matches their filters, in random simulations. */
export async function expectEveryEventSeen(service: Simulated, numRuns: number, seed = testSeed): Promise<void> {
  const some = <One>(one: fc.Arbitrary<One>) => fc.array(one, { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(some(shard), some(follower), async (shards, followers) => {
    const { events, seen } = await simulate(service, shards, followers);
    for (const [nth, { filter }] of followers.entries()) {
      const expected = events.filter(({ event }) => filter.event === undefined || event === filter.event);
      expect(new Set(seen[nth])).toEqual(new Set(expected.map(({ id }) => id)));
    }
  });
  await fc.assert(property, { numRuns, seed });
}

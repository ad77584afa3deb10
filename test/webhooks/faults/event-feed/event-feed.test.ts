import { describe, expect, it } from 'vitest';
import { openService } from '../../../service.ts';
import { expectEveryEventSeen, type Follower, mostSkewMs, type Shard, simulate } from './followers.ts';

const service = await openService();

describe('followers', () => {
  it('whose clocks differ from those of publishers by almost 250 ms get events that are written at the last moment', async () => {
    const shardOf = (ahead: number, delayMs: number): Shard => ({
      ...{ changes: [{ at: 0, ahead, name: 0 }], batch: 1, heldMs: [0, 0, 0], deaths: [] },
      ...{ repeats: [false, false, false], reversed: false, skew: -mostSkewMs, delays: [delayMs, delayMs, 0, 0] },
    });
    const eager: Follower = { limit: 50, filter: {}, everyMs: [25, 25, 25, 25], skew: mostSkewMs, delays: [0] };
    // Each shard sends two requests: it reads the subscribers, and writes the event. The second event has the greater id,
    // and is written at once.
    const shards = [shardOf(-mostSkewMs, 499), shardOf(1 - mostSkewMs, 0)];
    const { events, seen } = await simulate(service, shards, [eager]);
    expect(seen).toEqual([events.map(({ id }) => id)]);
  });

  it('get every event at least once, from delayed, repeated and interrupted batches of several shards', () =>
    expectEveryEventSeen(service, 4));
});

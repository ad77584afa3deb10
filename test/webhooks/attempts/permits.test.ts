import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../../lib/context/context.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { createShards } from '../../../lib/table/access/shards.ts';
import { isInPermit, permitsOfAttempt, takePermit, waitForPermit } from '../../../lib/webhooks/attempts/permits.ts';
import { fc } from '../../seeded.ts';
import { createMemoryTable } from '../../table/fixtures/memory-table.ts';
import { createVirtualTime } from '../faults/virtual-time.ts';
import { startTime } from '../test-webhooks.ts';

const organization = 'acme' as Organization;
const ulid = '0'.repeat(26);
const message = { organization, webhookId: `wh_${ulid}` } as DeliveryMessage;
const Key = keys.webhook(organization, ulid);

/** A request that begins: the time in it, the maximum by which its worker has decided, and the number of far steps back before it. */
type Begun = { sentAt: number; maxPerSecond: number; epoch: number };

/** Creates a webhook with a maximum, and workers that make attempts to it in virtual time. */
function createScene(maximum: number) {
  const table = createMemoryTable();
  const time = createVirtualTime(startTime);
  const begun: Begun[] = [];
  let writes = 0;
  let stepMs = 0;
  let latest = 0;
  let epoch = 0;
  table.send(new PutCommand({ TableName: 'table', Item: { ...Key, maxPerSecond: maximum } }));

  /** The time of the clock. It is another epoch when it is set back so far that its former times count for nothing. */
  const clock = () => {
    const now = Math.floor(time.now() + stepMs);
    if (now < latest - 60_000) epoch++;
    latest = now < latest - 60_000 ? now : Math.max(latest, now);
    return now;
  };

  const readTarget = () => {
    const { maxPerSecond, permittedUntil } = table.items()[0] as { maxPerSecond: number; permittedUntil?: number };
    const known = { url: '', slow: false, slowLeases: {}, maxPerSecond };
    return permittedUntil === undefined ? known : { ...known, permittedUntil };
  };

  return {
    time,
    begun,
    writes: () => writes,
    step: (ms: number) => {
      stepMs += ms;
      clock();
    },
    setMaximum: (maxPerSecond: number) => {
      const UpdateExpression = 'SET maxPerSecond = :max';
      const ExpressionAttributeValues = { ':max': maxPerSecond };
      table.send(new UpdateCommand({ TableName: 'table', Key, UpdateExpression, ExpressionAttributeValues }));
    },

    /** Creates a worker, whose timers fire late by some milliseconds, one after the other. */
    createWorker: (skewMs = 0, lateMs: readonly number[] = [0]) => {
      let timers = 0;
      const send = async (command: object) => {
        if (command instanceof UpdateCommand) writes++;
        return table.send(command);
      };
      const client = { send } as unknown as DynamoDBDocumentClient;
      const context: Pick<Context, 'table' | 'clock' | 'pause' | 'timeRequests'> = {
        table: { name: 'table', client, sleep: () => time.wait(20), shards: createShards() },
        clock: () => clock() + skewMs,
        pause: (milliseconds) => time.wait(milliseconds + (lateMs[timers++ % lateMs.length] as number)),
        timeRequests: new Map(),
      };
      return {
        /** Makes an attempt some time after it has read the webhook; returns whether its request has begun. */
        attempt: async (preparedMs = 0): Promise<boolean> => {
          const attempt = { message, target: readTarget() };
          if (preparedMs > 0) await time.wait(preparedMs);
          for (let missed = 0; missed < permitsOfAttempt; missed++) {
            const permit = await takePermit(context, attempt);
            if (permit === undefined) return false;
            await waitForPermit(context, permit);
            const sentAt = context.clock();
            if (!isInPermit(sentAt, permit)) continue;
            begun.push({ sentAt, maxPerSecond: attempt.target.maxPerSecond, epoch });
            return true;
          }
          return false;
        },
      };
    },
  };
}

/** Returns the windows of a second, by the times in the requests, that have more of them than the largest maximum of one. */
function tooFull(begun: readonly Begun[]): { from: number; count: number; most: number }[] {
  return begun.flatMap(({ sentAt: from, epoch }) => {
    const inSecond = begun.filter((one) => one.epoch === epoch && one.sentAt >= from && one.sentAt < from + 1_000);
    const most = Math.max(...inSecond.map(({ maxPerSecond }) => maxPerSecond));
    return inSecond.length > most ? [{ from, count: inSecond.length, most }] : [];
  });
}

type Step = { after: number } & (
  | { does: 'attempt'; worker: number; count: number; preparedMs: number }
  | { does: 'step'; ms: number }
  | { does: 'set'; maxPerSecond: number }
);

const maximum = fc.constantFrom(1, 2, 3, 7, 20, 50);
const after = fc.constantFrom(0, 1, 20, 75, 400, 990, 1_000, 1_075, 2_500);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      after,
      does: fc.constant('attempt' as const),
      worker: fc.nat(3),
      count: fc.constantFrom(1, 2, 3, 10, 60),
      preparedMs: fc.constantFrom(0, 0, 5, 74, 76, 1_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      after,
      does: fc.constant('step' as const),
      ms: fc.constantFrom(-3, 40, -200, 900, -5_000, 5_000, -40_000, 40_000, -90_000, 90_000, -3_600_000, 3_600_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ after, does: fc.constant('set' as const), maxPerSecond: maximum }) },
);

describe('a webhook with a maximum', () => {
  it('gets no more requests than it in any second, by the times in the requests', async () => {
    let all = 0;
    const lateMs = fc.array(fc.constantFrom(0, 0, 1, 3, 30, 74, 80, 300), { minLength: 1, maxLength: 5 });
    const workers = fc.array(fc.record({ skewMs: fc.integer({ min: -60, max: 60 }), lateMs }), {
      minLength: 1,
      maxLength: 4,
    });
    const steps = fc.array(step, { minLength: 5, maxLength: 25 });
    const property = fc.asyncProperty(maximum, workers, steps, async (most, some, all_) => {
      const scene = createScene(most);
      const created = some.map((worker) => scene.createWorker(worker.skewMs, worker.lateMs));
      const carryOut = async () => {
        const attempts: Promise<boolean>[] = [];
        for (const one of all_) {
          if (one.after > 0) await scene.time.wait(one.after);
          if (one.does === 'step') scene.step(one.ms);
          else if (one.does === 'set') scene.setMaximum(one.maxPerSecond);
          else {
            const worker = created[one.worker % created.length];
            for (let nth = 0; worker && nth < one.count; nth++) attempts.push(worker.attempt(one.preparedMs));
          }
        }
        await Promise.all(attempts);
      };
      await scene.time.run(carryOut());
      all += scene.begun.length;
      expect(tooFull(scene.begun)).toEqual([]);
    });
    await fc.assert(property, { numRuns: 150, interruptAfterTimeLimit: 10_000 });
    expect(all).toBeGreaterThan(500);
  });

  it.each([3_600_000, -3_600_000])(
    'gets no more if the clock steps by %i ms and back while workers wait for permits',
    async (ms) => {
      const scene = createScene(5);
      const worker = scene.createWorker();
      const attempts = () => Promise.all(Array.from({ length: 5 }, () => worker.attempt()));
      let afterSteps: boolean[] = [];
      const carryOut = async () => {
        const before = attempts();
        await scene.time.wait(100);
        scene.step(ms);
        const between = attempts();
        await scene.time.wait(400);
        scene.step(-ms);
        [afterSteps] = await Promise.all([attempts(), before, between]);
      };
      await scene.time.run(carryOut());
      expect(afterSteps).toEqual(Array(5).fill(true));
      expect(tooFull(scene.begun)).toEqual([]);
    },
  );

  it.each([
    [1, 3, 1],
    [50, 120, 1],
    [200, 120, 3],
    [1_000, 500, 10],
  ])(
    'of %i has one write for up to 50 of %i attempts, up to the permits of about a second',
    async (most, attempts, writes) => {
      const scene = createScene(most);
      const worker = scene.createWorker();
      let began = 0;
      const makeAll = async () => {
        const all = await Promise.all(Array.from({ length: attempts }, () => worker.attempt()));
        began = all.filter((one) => one).length;
      };
      await scene.time.run(makeAll());
      expect([scene.writes(), began]).toEqual([writes, Math.min(attempts, most)]);
    },
  );

  it.each([1, 50, 200, 1_000])(
    'of %i gets nine tenths of it or more from workers that take permits again and again',
    async (most) => {
      const scene = createScene(most);
      const untilMs = 20_000;
      const workers = [0, 20, -20, 5].map((skewMs) => scene.createWorker(skewMs, [0, 1, 30, 74]));
      const work = async (worker: (typeof workers)[number]) => {
        while (scene.time.now() < startTime + untilMs) {
          const all = await Promise.all(Array.from({ length: Math.ceil(most / 10) }, () => worker.attempt(1)));
          if (!all.some((one) => one)) await scene.time.wait(10);
        }
      };
      await scene.time.run(Promise.all(workers.map(work)));
      const inTime = scene.begun.filter(({ sentAt }) => sentAt < startTime + untilMs).length;
      expect(inTime).toBeGreaterThanOrEqual((0.9 * most * untilMs) / 1_000);
    },
  );
});

import { expect } from 'vitest';
import type { Webhook } from '../../../../lib/contract/webhooks/webhooks.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import { readWebhook } from '../../../../lib/table/webhooks/webhooks.ts';
import { fc } from '../../../seeded.ts';
import { dumpOf } from '../../../table/fixtures/table-dump.ts';
import { failed } from '../../test-webhooks.ts';
import { type Fault, points } from '../faults.ts';
import type { Pipeline } from '../pipeline.ts';

type Step =
  | { does: 'commit' | 'fail' | 'come back' | 'pause' | 'resume' | 'patch' | 'rotate' | 'redeliver' | 'recover' }
  | { does: 'deliver' | 'sweep' | 'settle' | 'resume during work' }
  | { does: 'wait'; minutes: number }
  | { does: 'wait shortly'; seconds: number }
  | { does: 'pace'; maxPerSecond: number | null }
  | { does: 'crash'; fault: Fault };

const crash = fc.record({
  at: fc.constantFrom(...points),
  when: fc.constantFrom('before' as const, 'after' as const),
  how: fc.constantFrom('dies' as const, 'fails' as const),
  after: fc.nat(3),
});

const does = <Does extends Step['does']>(...names: Does[]) => ({ does: fc.constantFrom(...names) });
const minutes = fc.constantFrom(1, 2, 5, 6, 30, 120, 1_440, 7_200);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record(does('commit')) },
  { weight: 3, arbitrary: fc.record(does('pause', 'resume', 'resume during work')) },
  { weight: 3, arbitrary: fc.record(does('fail', 'come back', 'patch', 'rotate', 'redeliver', 'recover')) },
  { weight: 5, arbitrary: fc.record(does('deliver', 'sweep', 'settle')) },
  { weight: 3, arbitrary: fc.record({ ...does('wait'), minutes }) },
  { weight: 2, arbitrary: fc.record({ ...does('wait shortly'), seconds: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ ...does('pace'), maxPerSecond: fc.constantFrom(1, 2, 50, 1_000, null) }) },
  { weight: 2, arbitrary: fc.record({ ...does('crash'), fault: crash }) },
);

/** A pipeline with one webhook, whose receiver fails while it is down. */
type Scene = { pipeline: Pipeline; webhook: Webhook; receiver: { isDown: boolean } };

/** The rows of attempts, and the events, of an organization. */
async function readLogs({ pipeline }: Scene) {
  const items = Object.values(await dumpOf(pipeline.table, pipeline.organization)) as {
    pk: string;
    sk: string;
    eventId?: string;
    deliveryId?: string;
    error?: string;
  }[];
  const log = items.filter(({ pk }) => pk === keys.events(pipeline.organization)).map(({ sk }) => sk);
  const events = log.filter((sk) => !sk.startsWith('L#'));
  const attempts = items.filter(({ sk }) => sk.startsWith('A#'));
  return { events, attempts };
}

async function readStored({ pipeline, webhook }: Scene) {
  const stored = await readWebhook(pipeline, pipeline.organization, webhook.id);
  return stored ?? expect.fail('the webhook is gone');
}

/** Requests the redelivery of a delivery; it may be in progress, or the webhook paused. */
async function redeliver({ pipeline, webhook }: Scene, deliveryId: string | undefined): Promise<void> {
  if (deliveryId) await pipeline.redeliver({ webhookId: webhook.id, deliveryId });
}

async function carryOut(scene: Scene, step: Step): Promise<void> {
  const { pipeline, webhook, receiver } = scene;
  switch (step.does) {
    case 'commit':
      pipeline.put(pipeline.change());
      return pipeline.publishStream();
    case 'fail':
    case 'come back':
      receiver.isDown = step.does === 'fail';
      return;
    case 'pause':
    case 'resume':
      await pipeline.update(webhook.id, { active: step.does === 'resume' });
      return;
    case 'resume during work':
      await Promise.all([pipeline.deliver(), pipeline.sweep(), pipeline.update(webhook.id, { active: true })]);
      return;
    case 'patch':
      await pipeline.update(webhook.id, { url: `https://example.com/${pipeline.clock()}/0` });
      return;
    case 'rotate':
      await pipeline.rotate(webhook.id);
      return;
    case 'redeliver':
      return redeliver(scene, pipeline.posts.at(-1)?.deliveryId);
    case 'recover':
      await pipeline.recover(webhook.id);
      return;
    case 'deliver':
      return pipeline.deliver();
    case 'sweep':
      await pipeline.sweep();
      return;
    case 'settle':
      return pipeline.settle();
    case 'wait':
      pipeline.clock.now += step.minutes * 60_000 + 1;
      return;
    case 'wait shortly':
      pipeline.clock.now += step.seconds * 1_000 + 1;
      return;
    case 'pace':
      await pipeline.update(webhook.id, { maxPerSecond: step.maxPerSecond });
      return;
    case 'crash':
      pipeline.faults.plan(step.fault);
  }
}

/** Settles until no message is a dead letter: operators redrive them. */
async function settleAll({ pipeline }: Scene): Promise<void> {
  do await pipeline.settle();
  while (pipeline.queues.redrive());
}

/**
 * Runs random steps in a random order, each time on a new pipeline. Expects that nothing is sent to a paused webhook, and
 * that each event is delivered after the receiver and the webhook are back and a recovery has ended.
 */
export async function checkPauses(createPipeline: () => Pipeline, numRuns: number, seed: number): Promise<void> {
  const steps = fc.array(step, { minLength: 6, maxLength: 30 });
  const property = fc.asyncProperty(steps, async (steps) => {
    const pipeline = createPipeline();
    const receiver = { isDown: false };
    const webhook = await pipeline.register(() => (receiver.isDown ? failed : {}));
    const scene = { pipeline, webhook, receiver };
    for (const step of steps) {
      const { active } = await readStored(scene);
      const posted = pipeline.posts.length;
      await carryOut(scene, step);
      if (!active && step.does !== 'resume during work') expect(pipeline.posts.slice(posted)).toEqual([]);
    }
    pipeline.faults.clear();
    receiver.isDown = false;
    await settleAll(scene);
    expect(await pipeline.update(webhook.id, { active: true })).toBe('done');
    await settleAll(scene);

    // Sends what the webhook has missed: events of pauses, and deliveries that failed permanently.
    expect(await pipeline.recover(webhook.id)).toBe('done');
    await settleAll(scene);
    const { events, attempts } = await readLogs(scene);
    const delivered = new Set(
      attempts.flatMap(({ error, eventId }) => (error === undefined ? [eventId?.slice(3)] : [])),
    );
    expect(events.filter((ulid) => !delivered.has(ulid))).toEqual([]);
    const left = Object.keys(await dumpOf(pipeline.table, pipeline.organization)).filter((key) => / P#|#WP /.test(key));
    expect(left).toEqual([]);
  });
  // The limit also ends the search for a smaller example, so that a failure is reported before the test times out.
  await fc.assert(property, { numRuns, seed, interruptAfterTimeLimit: 10_000 });
}

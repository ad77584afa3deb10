import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import { taskFrom } from '../../../lib/table/tasks/task-items.ts';
import { taskEvents } from '../../../lib/tasks/events.ts';
import { createTask, listTasks } from '../../../lib/tasks/tasks.ts';
import type { Change } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { newTask } from '../../table/tasks/test-table.ts';
import { streamed } from '../../table-stream.ts';
import { startTime } from '../test-webhooks.ts';
import { type Fault, fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines, putChange } from './pipeline.ts';

const createPipeline = await preparePipelines();
const until = startTime + 600_000;

/** Returns the changes of tasks in the table's stream, as `publish-events` reads them. */
async function changesOf({ service, organization }: Pipeline): Promise<Change[]> {
  const records = await streamed(service, 'task');
  return records.flatMap(({ dynamodb: { OldImage, NewImage } = {} }) => {
    const [before, after] = [OldImage, NewImage].map((image) => image && unmarshall(image as never));
    if (!after || !String(after.pk).startsWith(`O#${organization}#`)) return [];
    const task = taskFrom(after);
    return [
      { organization, item: task.id, version: task.version, events: taskEvents(before && taskFrom(before), task) },
    ];
  });
}

describe('a task is published, exactly if it is written, although the API', () => {
  it.each<[string, Fault, number]>([
    ['dies after it writes the task', fault('dies after write a task'), 1],
    ['gets no response to the write', fault('fails after write a task'), 1],
    ['dies before it writes the task', fault('dies before write a task'), 0],
  ])('%s', async (_, fault, posts) => {
    const pipeline = createPipeline();
    await pipeline.register();
    const { organization, clock, faults } = pipeline;
    const context = { table: faults.table(pipeline.table), ulid: () => ulid(clock()), clock };
    faults.plan(fault);
    await faults.run(() => faults.step('write a task', () => createTask(context, organization, newTask(), undefined)));
    const { items } = await listTasks(context, organization, {}, { limit: 100, offset: 0 });
    for (const { id, title, status, createdAt } of items)
      pipeline.expect({ event: 'task.created', data: { task: { id, title, status }, occurredAt: createdAt } });
    pipeline.put(...(await changesOf(pipeline)));
    expect(await pipeline.rest()).toMatchObject({ wrong: [], posts });
  });
});

describe('a change is published once, although its publisher', () => {
  it.each<[string, Fault, latestMs: number]>([
    ['dies before it reads the subscribers', fault('dies before find subscribers'), 1_000],
    ['dies before the event is in the log', fault('dies before append'), 1_000],
    ['dies between the log and the send', fault('dies after append'), 1_000],
    ['dies before the queue has the message', fault('dies before send'), 1_000],
    ['dies after the queue has the message', fault('dies after send'), 0],
    ['gets no response from the log, which has the event', fault('fails after append'), 1_000],
    ['gets no response from the log, which does not have the event', fault('fails before append'), 1_000],
    ['gets no response from the queue, which has the message', fault('fails after send'), 0],
    ['gets no response from the queue, which does not have the message', fault('fails before send'), 1_000],
    ['has reads throttled once', fault('throttles before find subscribers'), 1_000],
    ['has reads throttled for 10 minutes', fault('throttles before find subscribers', { until }), 603_000],
    ['has writes throttled for 10 minutes', fault('throttles before append', { until }), 603_000],
    ['has a queue that accepts nothing for 10 minutes', fault('fails before send', { until }), 603_000],
  ])('%s', async (_, fault, latestMs) => {
    const pipeline = await putChange(createPipeline(), [fault]);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs, posts: 1 });
  });

  it.each<[string, Fault]>([
    ['dies after half of a batch', fault('dies half send')],
    ['has a queue that accepts half of a batch', fault('fails half send')],
    ['dies between two batches', fault('dies before send', { after: 1 })],
  ])('to fifteen webhooks %s', async (_, fault) => {
    const pipeline = await putChange(createPipeline(), [fault], { webhooks: 15 });
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 15 }, latestMs: 1_000, posts: 15 });
  });
});

describe('records of the stream', () => {
  it('that come twice, in one batch and again while their receiver fails, add no attempt', async () => {
    const pipeline = createPipeline();
    await pipeline.register(failing(2));
    const change = pipeline.change();
    await pipeline.publish([change, change]);
    await pipeline.deliver();
    pipeline.clock.now += 60_000;
    pipeline.put(change);
    await pipeline.settle();
    pipeline.put(change);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs: 0, posts: 3 });
  });

  it('that come in another order are published once each, with their own times', async () => {
    const pipeline = createPipeline();
    await pipeline.register();
    const changes = [];
    for (let more = 0; more < 5; more++) {
      changes.push(pipeline.change());
      pipeline.clock.now += 1_000;
    }
    pipeline.put(...changes.toReversed());
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 5 }, latestMs: 5_000, posts: 5 });
  });
});

describe('a first attempt is made once,', () => {
  it.each([1, 2, 3])('within %i checks of its event if the queue loses as many messages', async (losses) => {
    const pipeline = createPipeline();
    await pipeline.register();
    for (let nth = 0; nth < losses; nth++) pipeline.queues.lost.add(nth);
    pipeline.put(pipeline.change());
    const { latestMs, ...rest } = await pipeline.rest();
    expect(rest).toEqual({ wrong: [], ends: { delivered: 1 }, posts: 1 });
    // The check is due seven minutes after the event at the latest, and is made again after five minutes at first.
    expect(latestMs).toBeLessThanOrEqual((8 + (losses - 1) * 6) * 60_000);
  });

  it('although its message is a dead letter, which is redriven later', async () => {
    const pipeline = createPipeline();
    await pipeline.register();
    pipeline.faults.plan(fault('fails before find', { until: startTime + 20 * 60_000 }));
    pipeline.put(pipeline.change());
    const { latestMs, ...rest } = await pipeline.rest();
    expect(rest).toEqual({ wrong: [], ends: { delivered: 1 }, posts: 1 });
    expect(latestMs).toBeLessThan(35 * 60_000);
    expect(pipeline.queues.redrive()).toBe(true);
    expect(await pipeline.rest()).toMatchObject({ wrong: [], posts: 1 });
  });

  it.each<[string, Fault]>([
    ['although the publisher dies before it plans the check', fault('dies before plan check')],
    ['although the publisher dies after it plans the check', fault('dies after plan check')],
    ['although the table does not store the plan', fault('fails before plan check')],
    ['although the sweep dies before it takes the check', fault('dies before postpone')],
    ['although the sweep dies after it takes the check', fault('dies after postpone')],
    ['although the sweep dies before it sends the message', fault('dies before send', { after: 2 })],
    ['although the sweep dies before it ends the check', fault('dies before end check')],
    ['although the sweep dies after it ends the check', fault('dies after end check')],
  ])('%s, and the queue loses its message', async (_, struck) => {
    const pipeline = createPipeline();
    await pipeline.register();
    // The publisher sends it again if it dies.
    for (let nth = 0; nth < 2; nth++) pipeline.queues.lost.add(nth);
    pipeline.faults.plan(struck);
    pipeline.put(pipeline.change());
    const { latestMs, ...rest } = await pipeline.rest();
    expect(rest).toEqual({ wrong: [], ends: { delivered: 1 }, posts: 1 });
    expect(latestMs).toBeLessThanOrEqual(26 * 60_000);
  });
});

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

describe('the deliveries of a sampled event that the stream never brings again', () => {
  it.each<[string, Fault]>([
    ['the queue lost', fault('dies before send')],
    ['were to be sent when the publisher died', fault('dies after append')],
  ])('and %s are made after 17 minutes, by the sweeper', async (_, fault) => {
    const pipeline = createPipeline();
    await pipeline.register();
    pipeline.faults.plan(fault);
    expect(await pipeline.publish([pipeline.change('task.created', true)])).toBe('dead');
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs: 17 * 60_000, posts: 1 });
  });
});

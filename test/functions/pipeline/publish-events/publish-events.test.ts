import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it, vi } from 'vitest';
import { processContext } from '../../../../lib/context/context.ts';
import { timestamp, ulidOf } from '../../../../lib/contract/ids.ts';
import { published } from '../../../../lib/names/consumers.ts';
import { readEvents } from '../../../../lib/table/events/event-log.ts';
import type { RunningExecution } from '../../../../lib/table/executions/execution-items.ts';
import { endExecution, leaseExecution, renewLease } from '../../../../lib/table/executions/executions.ts';
import { createTask, updateTask } from '../../../../lib/tasks/tasks.ts';
import { updateWebhook } from '../../../../lib/webhooks/webhooks.ts';
import { dumpOf } from '../../../table/fixtures/table-dump.ts';
import { always, newTask } from '../../../table/tasks/test-table.ts';
import { streamed } from '../../../table-stream.ts';
import { publish } from '../call-functions.ts';
import { messagesIn } from '../delivery-queues.ts';
import { createTestPipeline, messageOf } from '../test-pipeline.ts';

const pipeline = await createTestPipeline();
const { service, organization, register, receive, startExecution } = pipeline;
const webhook = await register('https://example.com/hooks', [
  ...(['task.created', 'task.status_changed', 'task.completed'] as const),
  ...(['agent.spawned', 'agent.completed', 'agent.failed'] as const),
]);
vi.spyOn(processContext().log, 'error').mockImplementation(() => {});

const addTask = async () => (await createTask(processContext(), organization, newTask(), undefined)).id;

/** Returns the records of the changes of a task or an execution, or of the events about a webhook. */
const recordsOf = async (kind: 'task' | 'execution' | 'webhook-event', id: string) =>
  (await streamed(service, kind)).filter(({ dynamodb }) => JSON.stringify(dynamodb?.Keys).includes(ulidOf(id)));

/** Publishes changes; returns the published events, and the messages to workers. */
async function publishedBy(...records: DynamoDBRecord[]) {
  expect(await publish(...records)).toEqual([]);
  const log = await Array.fromAsync(readEvents(service, organization, 0, Date.now() + 60_000));
  const ids = (await receive()).map((body) => messageOf(body).eventId);
  const events = log
    .filter(({ id }) => ids.includes(id))
    .map(({ event, data }) => ({ event, ...JSON.parse(data) }))
    .sort((one, other) => one.event.localeCompare(other.event));
  return { events, messages: (await receive('executions')).map((body) => JSON.parse(body)) };
}

it('a new task is published to its subscribers', async () => {
  const id = await addTask();
  await publish(...(await recordsOf('task', id)));
  expect((await receive()).map(messageOf)).toEqual([
    {
      organization,
      webhookId: webhook.id,
      deliveryId: expect.stringMatching(/^dlv_[0-9A-Z]{26}$/),
      eventId: expect.stringMatching(/^ev_[0-9A-Z]{26}$/),
      attempt: 1,
      dueAt: expect.stringMatching(/Z$/),
      content: { event: 'task.created', data: expect.stringContaining(`"id":"${id}"`) },
    },
  ]);
});

it('a change of a task is published by its status before and after', async () => {
  const id = await addTask();
  await updateTask(processContext(), organization, id, { title: 'Renamed' }, always);
  await updateTask(processContext(), organization, id, { status: 'done' }, always);
  const [created, renamed, done] = (await recordsOf('task', id)) as [DynamoDBRecord, DynamoDBRecord, DynamoDBRecord];
  expect((await publishedBy(created)).events).toMatchObject([{ event: 'task.created', task: { id } }]);
  expect((await publishedBy(renamed)).events).toEqual([]);
  const changed = { id, previousStatus: 'backlog', status: 'done' };
  expect((await publishedBy(done)).events).toMatchObject([
    { event: 'task.completed', task: { id } },
    { event: 'task.status_changed', task: changed },
  ]);
});

it('the start of an execution is published and sent to a worker, and its end is published', async () => {
  const id = await startExecution();
  const now = processContext().clock();
  const lease = { leaseId: 'mine', now: timestamp(now), until: timestamp(now + 30_000) };
  const leased = (await leaseExecution(service, { organization, id }, lease)) as RunningExecution;
  await renewLease(service, leased, timestamp(now + 40_000));
  const ending = { completedAt: timestamp(now + 7), durationMs: 7, tokensUsed: 111, selfTest: 'passed' } as const;
  await endExecution(service, leased, { ...ending, status: 'completed', qaReview: 'skipped' }, { output: 'Done.' });
  const [start, ...more] = (await recordsOf('execution', id)) as [DynamoDBRecord, ...DynamoDBRecord[]];
  const end = more.pop() as DynamoDBRecord;
  expect(await publishedBy(start)).toMatchObject({
    events: [{ event: 'agent.spawned', execution: { id, agentName: 'qa-reviewer', status: 'running' } }],
    messages: [{ organization, executionId: id }],
  });
  // In AWS, the stream leaves out the quiet ones.
  const { attribute, value } = published.quiet;
  const isQuiet = ({ eventName, dynamodb: { NewImage } = {} }: DynamoDBRecord) =>
    eventName === 'MODIFY' && NewImage?.[attribute]?.S === value;
  expect([start, ...more, end].map(isQuiet)).toEqual([false, true, true, false]);
  // A message for a lease would be delayed until the lease expires.
  const messages = () => messagesIn(pipeline, pipeline.urls.executions);
  const before = await messages();
  expect(await publishedBy(...more)).toEqual({ events: [], messages: [] });
  expect(await messages()).toBe(before);
  const execution = { id, status: 'completed', durationMs: 7, tokensUsed: 111 };
  expect(await publishedBy(end)).toMatchObject({ events: [{ event: 'agent.completed', execution }], messages: [] });
});

/** Registers another webhook, and pauses it. */
async function pauseAnother(): Promise<string> {
  const { id } = await register('https://example.com:8443/other', ['webhook.paused']);
  await updateWebhook(processContext(), organization, id, { active: false }, () => {});
  return id;
}

it('a pause of a webhook is published to other webhooks', async () => {
  await updateWebhook(
    processContext(),
    organization,
    webhook.id,
    { events: [...webhook.events, 'webhook.paused'] },
    () => {},
  );
  const id = await pauseAnother();
  const records = await recordsOf('webhook-event', id);
  expect(records).toHaveLength(1);
  const { events } = await publishedBy(...records);
  const paused = { id, host: 'example.com:8443', active: false };
  expect(events).toEqual([{ event: 'webhook.paused', webhook: paused, occurredAt: expect.stringMatching(/Z$/) }]);
});

it('the deletion of a task or an execution, and the expiry of an event about a webhook, are not published', async () => {
  const records = [
    ...(await recordsOf('task', await addTask())),
    ...(await recordsOf('execution', await startExecution())),
    ...(await recordsOf('webhook-event', await pauseAnother())),
  ];
  const removals = records.map(({ dynamodb: { NewImage: OldImage, ...rest } = {}, ...record }): DynamoDBRecord => {
    return { ...record, eventName: 'REMOVE', dynamodb: { ...rest, ...(OldImage && { OldImage }) } };
  });
  const before = await dumpOf(service.table, organization);
  expect(removals).toHaveLength(3);
  expect(await publishedBy(...removals)).toEqual({ events: [], messages: [] });
  expect(await receive('deadLetters')).toEqual([]);
  expect(await dumpOf(service.table, organization)).toEqual(before);
});

it('a change whose event the table rejects becomes a dead letter, and the others of its batch are published', async () => {
  const ids = [await addTask(), await addTask(), await addTask()];
  const records = (await Promise.all(ids.map((id) => recordsOf('task', id)))).flat();
  // Longer than an item of the table may be.
  Object.assign(records[1]?.dynamodb?.NewImage?.title ?? {}, { S: 'x'.repeat(400 * 1024) });
  const { events } = await publishedBy(...records);
  expect(events.map(({ task }) => task.id).sort()).toEqual([ids[0], ids[2]].sort());
  expect((await receive('deadLetters')).map((body) => JSON.parse(body).eventID)).toEqual([records[1]?.eventID]);
});

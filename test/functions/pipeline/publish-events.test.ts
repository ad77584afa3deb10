import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler } from '../../../functions/pipeline/publish-events.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { type StoredTask, taskItem } from '../../../lib/table/tasks/task-items.ts';
import { createTask } from '../../../lib/tasks/tasks.ts';
import { dumpOf } from '../../table-dump.ts';
import { streamed } from '../../table-stream.ts';
import { messageOf, openPipeline } from './pipeline.ts';

const { service, organization, register, receive, publishedEvents } = await openPipeline();
const webhook = await register('https://example.com/hooks', ['task.created', 'task.status_changed', 'task.completed']);

/** Returns a stored task with a new id, created now. */
function newTask(fields: Partial<StoredTask> = {}): StoredTask {
  const now = processContext().clock();
  const at = new Date(now).toISOString();
  const base = { title: 'A task', status: 'backlog', priority: 'medium', dependsOn: [], dependents: [] } as const;
  return {
    ...base,
    id: `tk_${processContext().ulid()}`,
    version: 1,
    createdAt: at,
    updatedAt: at,
    ...fields,
  } as StoredTask;
}

/** A record of the stream, in the form that Lambda passes. */
function recordOf(before: StoredTask | undefined, after: StoredTask | undefined, nth = 0, of = organization) {
  const image = (task: StoredTask) => marshall(taskItem(of, task)) as never;
  const record: DynamoDBRecord = {
    eventID: `event-${nth}`,
    eventName: before ? (after ? 'MODIFY' : 'REMOVE') : 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'local',
    eventSourceARN: 'arn:aws:dynamodb:local:000000000000:table/test/stream/1',
    dynamodb: {
      ApproximateCreationDateTime: 1772366400,
      SequenceNumber: String(1000 + nth),
      SizeBytes: 100,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
      ...(before && { OldImage: image(before) }),
      ...(after && { NewImage: image(after) }),
    },
  };
  return record;
}

/** Longer than an item of the table may be. */
const tooLong = 'x'.repeat(400 * 1024);

async function publish(...records: DynamoDBRecord[]) {
  const { batchItemFailures } = await handler({ Records: records }, contextOf('publishEvents', 60));
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/** The sorted names of the events whose messages are in the queue. */
const publishedNames = async () => (await publishedEvents()).map(({ event }) => event).sort();

beforeEach(() => {
  vi.spyOn(processContext().log, 'error').mockImplementation(() => {});
});

afterEach(() => vi.restoreAllMocks());

describe('publish-events', () => {
  it('publishes a new task to its subscribers', async () => {
    expect(await publish(recordOf(undefined, newTask()))).toEqual([]);
    const [body = '', ...more] = await receive();
    expect(more).toEqual([]);
    expect(messageOf(body)).toEqual({
      organization,
      webhookId: webhook.id,
      deliveryId: expect.stringMatching(/^dlv_[0-9A-Z]{26}$/),
      eventId: expect.stringMatching(/^ev_[0-9A-Z]{26}$/),
      attempt: 1,
      dueAt: expect.stringMatching(/Z$/),
    });
  });

  it('publishes a new status, and also a completion', async () => {
    const before = newTask();
    const after = {
      ...before,
      status: 'done' as const,
      version: 2,
      updatedAt: new Date(processContext().clock()).toISOString(),
    };
    expect(await publish(recordOf(before, after))).toEqual([]);
    expect(await publishedNames()).toEqual(['task.completed', 'task.status_changed']);
  });

  it('publishes no other change, no new dependent and no deletion', async () => {
    const before = newTask();
    const records = [
      recordOf(before, { ...before, title: 'Renamed', version: 2 }, 1),
      recordOf(before, { ...before, dependents: ['tk_01K00000000000000000000000'] }, 2),
      recordOf(before, undefined, 3),
    ];
    expect(await publish(...records)).toEqual([]);
    expect(await receive()).toEqual([]);
  });

  it('sends no message for a task of an organization without webhooks', async () => {
    expect(await publish(recordOf(undefined, newTask(), 0, 'another' as Organization))).toEqual([]);
    expect(await receive()).toEqual([]);
  });

  it.each<[string, (record: DynamoDBRecord) => void]>([
    ['whose image has no key', ({ dynamodb }) => delete dynamodb?.NewImage?.sk],
    ['whose event the table refuses', ({ dynamodb }) => Object.assign(dynamodb?.NewImage?.title ?? {}, { S: tooLong })],
  ])('sets aside just the record %s, with keys and images, and publishes the others', async (_, poison) => {
    const poisoned = recordOf(undefined, newTask(), 1);
    poison(poisoned);
    const failures = await publish(recordOf(undefined, newTask(), 0), poisoned, recordOf(undefined, newTask(), 2));
    expect(failures).toEqual([]);
    expect(await publishedNames()).toEqual(['task.created', 'task.created']);
    expect((await receive('deadLetters')).map((body) => JSON.parse(body))).toEqual([poisoned]);
  });

  it('makes no second delivery of a record that comes again', async () => {
    const record = recordOf(undefined, newTask());
    await publish(record);
    const before = await dumpOf(service.table, organization);
    const first = await receive();
    expect(await publish(record)).toEqual([]);
    expect(await dumpOf(service.table, organization)).toEqual(before);
    expect(await receive()).toEqual(first);
  });

  it('has no text of the task in its messages', async () => {
    await publish(recordOf(undefined, newTask({ title: 'private words', description: 'private words' })));
    const bodies = await receive();
    expect(bodies).toHaveLength(1);
    expect(bodies.join()).not.toContain('private');
  });

  it('understands the stream of the table itself', async () => {
    const task = await createTask(
      processContext(),
      organization,
      { title: 'From the stream', status: 'done', priority: 'low', dependsOn: [] },
      undefined,
    );
    expect(await publish(...(await streamed(service, 'task')))).toEqual([]);
    const [event, ...more] = await publishedEvents();
    expect([event?.event, more]).toEqual(['task.created', []]);
    expect(JSON.parse(event?.data ?? '{}')).toEqual({
      task: { id: task.id, title: 'From the stream', status: 'done' },
      occurredAt: task.createdAt,
    });
  });
});

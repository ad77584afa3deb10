import type { DynamoDBRecord } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as publishEvents } from '../../../functions/pipeline/publish-events.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context.ts';
import { consumers } from '../../../lib/deployment/consumers.ts';
import { type QueueName, workQueues } from '../../../lib/deployment/queues.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { dumpOf } from '../../table-dump.ts';
import { streamed } from '../../table-stream.ts';
import { runJob } from './jobs.ts';
import { openPipeline } from './pipeline.ts';

// Heartbeats are written, and their age is measured, by the clock of this process.
const opening = Date.parse('2026-03-01T12:00:00.000Z');
vi.useFakeTimers({ toFake: ['Date'], now: opening });

const { service, organization, register, receive } = await openPipeline();
await register();
let written: string[];

beforeEach(() => {
  written = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'Crewboard-test');
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const publish = (Records: DynamoDBRecord[]) => publishEvents({ Records }, contextOf('publishEvents', 60));
const measured = () => written.map((line) => JSON.parse(line)).flatMap(({ WorkLate }) => WorkLate ?? []);

describe('a heartbeat', () => {
  it('is a change of a kind that the stream sends to the publisher', async () => {
    await runJob('heartbeat');
    const [record, ...more] = await streamed(service, 'heartbeat');
    expect(more).toEqual([]);
    const kind = record?.dynamodb?.NewImage?.kind?.S;
    expect(consumers.publishEvents.sources[0].kinds).toContain(kind);
  });

  it('is a change each minute, though it is one item', async () => {
    const before = (await streamed(service, 'heartbeat')).length;
    for (let minute = 0; minute < 3; minute++) {
      vi.setSystemTime(Date.now() + 60_000);
      await runJob('heartbeat');
    }
    expect(await streamed(service, 'heartbeat')).toHaveLength(before + 3);
  });

  it.each([
    { age: 42, seen: [0] },
    { age: 60, seen: [0] },
    { age: 75, seen: [15, 0] },
  ])('is measured when it arrives after $age s, of which 60 are allowed: $seen', async ({ age, seen }) => {
    vi.setSystemTime(Date.now() + 60_000);
    await runJob('heartbeat');
    const [record] = (await streamed(service, 'heartbeat')).slice(-1);
    const ApproximateCreationDateTime = Date.now() / 1000;
    vi.setSystemTime(Date.now() + age * 1000);
    const arrived = { ...record, dynamodb: { ...record?.dynamodb, ApproximateCreationDateTime } } as DynamoDBRecord;
    expect(await publish([arrived])).toEqual({ batchItemFailures: [] });
    expect(measured()).toEqual(seen);
  });

  it('is no event, sends no message, and belongs to no organization', async () => {
    const before = await dumpOf(service.table, organization);
    vi.setSystemTime(Date.now() + 60_000);
    await runJob('heartbeat');
    await publish(await streamed(service, 'heartbeat'));
    const waiting = await Promise.all(workQueues.map((queue: QueueName) => receive(queue)));
    expect(waiting.flat()).toEqual([]);
    expect(await dumpOf(service.table, organization)).toEqual(before);
    const { total } = await listTasks(processContext(), organization, {}, { limit: 1, offset: 0 });
    expect(total).toBe(0);
  });
});

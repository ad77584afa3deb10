import type { DynamoDBRecord } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { consumers } from '../../../../lib/names/consumers.ts';
import { workQueues } from '../../../../lib/names/queues.ts';
import { dumpOf } from '../../../table/fixtures/table-dump.ts';
import { streamed } from '../../../table-stream.ts';
import { publish, runJob } from '../call-functions.ts';
import { createTestPipeline } from '../test-pipeline.ts';

// Heartbeats are written, and their age is measured, by the clock of this process.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const { service, organization, register, receive } = await createTestPipeline();
await register();

/** Lets a minute pass, and writes a heartbeat; returns its record in the stream. */
async function beat(): Promise<DynamoDBRecord> {
  vi.setSystemTime(Date.now() + 60_000);
  await runJob('heartbeat');
  return (await streamed(service, 'heartbeat')).at(-1) as DynamoDBRecord;
}

beforeEach(() => vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'Crewboard-test'));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('a heartbeat', () => {
  it('is a change each minute, of a kind that the stream sends to the publisher', async () => {
    const kinds = [await beat(), await beat()].map(({ dynamodb }) => dynamodb?.NewImage?.kind?.S);
    expect(await streamed(service, 'heartbeat')).toHaveLength(2);
    for (const kind of kinds) expect(consumers.publishEvents.sources[0].kinds).toContain(kind);
  });

  it.each([
    { age: 60, measured: [0] },
    { age: 75, measured: [15, 0] },
  ])('is measured when it arrives after $age s, of which 60 are allowed: $measured', async ({ age, measured }) => {
    const written: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    const { dynamodb, ...record } = await beat();
    const ApproximateCreationDateTime = Date.now() / 1000;
    vi.setSystemTime(Date.now() + age * 1000);
    expect(await publish({ ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime } })).toEqual([]);
    expect(written.flatMap((line) => JSON.parse(line).WorkLate ?? [])).toEqual(measured);
  });

  it('is no event, sends no message, and belongs to no organization', async () => {
    vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    const before = await dumpOf(service.table, organization);
    await publish(await beat());
    expect((await Promise.all(workQueues.map((queue) => receive(queue)))).flat()).toEqual([]);
    expect(await dumpOf(service.table, organization)).toEqual(before);
  });
});

import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { handler } from '../../../functions/pipeline/publish-events.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { executeAgent } from '../../../lib/executions/executions.ts';
import { endExecution, leaseExecution, renewLease } from '../../../lib/table/executions/executions.ts';
import { dumpOf } from '../../table-dump.ts';
import { streamed } from '../../table-stream.ts';
import { openPipeline } from './pipeline.ts';

const { service, organization, register, receive, publishedEvents } = await openPipeline();
await register('https://example.com/hooks', ['agent.spawned', 'agent.completed', 'agent.failed', 'task.created']);
const ended = { durationMs: 7, tokensUsed: 111, selfTest: 'passed', qaReview: 'skipped' } as const;

async function publish(...records: DynamoDBRecord[]): Promise<void> {
  const { batchItemFailures } = await handler({ Records: records }, contextOf('publishEvents', 60));
  expect(batchItemFailures).toEqual([]);
}

/** The events whose messages are in the queue, each with its execution. */
async function publishedExecutions(): Promise<{ event: string; execution: Record<string, unknown> }[]> {
  return (await publishedEvents()).map(({ event, data }) => ({ event, execution: JSON.parse(data).execution }));
}

/** Starts an execution, leases it twice, renews the lease and ends it. Returns its stream records. */
async function endedExecution(status: 'completed' | 'failed', agent = 'qa-reviewer') {
  const { executionId: id } = await executeAgent(processContext(), organization, agent, { input: 'Do it.' }, undefined);
  const now = processContext().clock();
  const lease = (nth: number) => ({
    leaseId: `${nth}`,
    now: timestamp(now + nth * 30_000),
    until: timestamp(now + (nth + 1) * 30_000),
  });
  await leaseExecution(service, { organization, id }, lease(0));
  const held = await leaseExecution(service, { organization, id }, lease(1));
  if (!held) throw new Error('The execution is not leased.');
  await renewLease(service, held, timestamp(now + 90_000));
  const error = status === 'failed' ? { error: 'deadline' } : {};
  await endExecution(
    service,
    held,
    { ...ended, status, completedAt: timestamp(now + 7), ...error },
    { output: 'Done.' },
  );
  return { id, records: await recordsOf(id) };
}

const recordsOf = async (id: string) =>
  (await streamed(service, 'execution')).filter(({ dynamodb }) => dynamodb?.Keys?.pk?.S?.endsWith(id.slice(3)));

describe('publish-events', () => {
  it.each(['completed', 'failed'] as const)(
    'sends a message to a worker at the start, and publishes the start and the end: %s',
    async (status) => {
      const { id, records } = await endedExecution(status);
      const [start, ...more] = records as [DynamoDBRecord, ...DynamoDBRecord[]];
      const end = more.pop() as DynamoDBRecord;
      await publish(start);
      const messages = (await receive('executions')).map((body) => JSON.parse(body));
      expect(messages).toEqual([{ organization, executionId: id }]);
      expect(await publishedExecutions()).toEqual([
        {
          event: 'agent.spawned',
          execution: { id, agentName: 'qa-reviewer', status: 'running', startedAt: expect.any(String) },
        },
      ]);

      // Two leases and a renewal.
      expect(more).toHaveLength(3);
      await publish(...more);
      expect([await receive('executions'), await publishedExecutions()]).toEqual([[], []]);

      await publish(end);
      expect(await receive('executions')).toEqual([]);
      const [{ event, execution } = { event: '', execution: {} }, ...others] = await publishedExecutions();
      expect([event, others]).toEqual([`agent.${status}`, []]);
      expect(execution).toMatchObject({ id, status, durationMs: 7, tokensUsed: 111 });
      expect('error' in execution).toBe(status === 'failed');
    },
  );

  it('publishes a start and an end once although their records come twice, and sends a message to a worker each time', async () => {
    const { records } = await endedExecution('completed');
    await publish(...records);
    const events = (await publishedExecutions()).map(({ event }) => event).sort();
    expect(events).toEqual(['agent.completed', 'agent.spawned']);
    const before = await dumpOf(service.table, organization);
    await publish(...records);
    expect(await dumpOf(service.table, organization)).toEqual(before);
    expect(await receive('executions')).toHaveLength(2);
    expect((await publishedExecutions()).map(({ event }) => event).sort()).toEqual(events);
  });

  it('publishes nothing and sends no message for a purged execution', async () => {
    const { records } = await endedExecution('completed');
    const [start, end] = [records[0], records.at(-1)];
    const removals = [start, end].map((record) => {
      const { NewImage: OldImage, ...dynamodb } = record?.dynamodb ?? {};
      return { ...record, eventName: 'REMOVE', dynamodb: { ...dynamodb, OldImage } } as DynamoDBRecord;
    });
    const before = await dumpOf(service.table, organization);
    await publish(...removals);
    expect(await dumpOf(service.table, organization)).toEqual(before);
    expect([await receive('executions'), await publishedExecutions()]).toEqual([[], []]);
  });
});

import { describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { sweepExecutions } from '../../../lib/executions/execution-messages.ts';
import { executeAgent } from '../../../lib/executions/executions.ts';
import type { RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import { endExecution, leaseExecution } from '../../../lib/table/executions/executions.ts';
import { allTime, runJob } from './jobs.ts';
import { openPipeline } from './pipeline.ts';

// The queues' engine and the service read the time in this process, so a test moves a fake clock and never waits.
const opening = Date.parse('2026-03-01T12:00:00.000Z');
vi.useFakeTimers({ toFake: ['Date'], now: opening });

const { service, organization, receive } = await openPipeline();
const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const messagedExecutions = async () => (await receive('executions')).map((body) => JSON.parse(body).executionId);

async function start(): Promise<string> {
  return (await executeAgent(processContext(), organization, 'qa-reviewer', { input: 'Do it.' }, undefined))
    .executionId;
}

const lease = (id: string, leaseMs = 30_000) => {
  const now = Date.now();
  const details = { leaseId: `${now}`, now: timestamp(now), until: timestamp(now + leaseMs) };
  return leaseExecution(service, { organization, id }, details) as Promise<RunningExecution>;
};

/** Ends an execution, so that it cannot affect later tests. */
async function end(held: RunningExecution): Promise<void> {
  const judged = { selfTest: 'skipped', qaReview: 'skipped' } as const;
  const ending = {
    status: 'failed',
    error: 'lost',
    completedAt: timestamp(Date.now()),
    durationMs: 0,
    tokensUsed: 0,
  } as const;
  await endExecution(service, held, { ...ending, ...judged }, {});
}

describe('sweep-overdue', () => {
  it('sends the message of an execution that no worker has leased for a minute, and again each minute', async () => {
    const id = await start();
    pass(59_999);
    await runJob('executions');
    expect(await messagedExecutions()).toEqual([]);
    pass(1);
    for (let minute = 0; minute < 3; minute++) {
      await runJob('executions');
      expect(await messagedExecutions()).toEqual([id]);
      await runJob('executions');
      expect(await messagedExecutions()).toEqual([]);
      pass(60_000);
    }
    await end(await lease(id));
  });

  it('sends no message of a leased execution, and sends it when the lease has expired', async () => {
    const id = await start();
    await lease(id);
    pass(29_999);
    await runJob('executions');
    expect(await messagedExecutions()).toEqual([]);
    pass(1);
    await runJob('executions');
    expect(await messagedExecutions()).toEqual([id]);
    await end(await lease(id));
  });

  it('sends the message of a leased execution for the expiry of its lease, when it is called for all time to come', async () => {
    const id = await start();
    await lease(id, 29_500);
    await runJob('executions', allTime);
    expect(await messagedExecutions()).toEqual([]);
    pass(29_499);
    expect(await messagedExecutions()).toEqual([]);
    pass(501);
    expect(await messagedExecutions()).toEqual([id]);
    await end(await lease(id));
  });

  it('sends no message of an execution that has ended', async () => {
    await end(await lease(await start()));
    await runJob('executions', allTime);
    pass(900_000);
    expect(await messagedExecutions()).toEqual([]);
  });

  it('measures the longest time that an execution has waited for a worker, without the time that a worker takes', async () => {
    const measured = async () => (await sweepExecutions(processContext(), { until: Date.now() })).waits;
    expect(await measured()).toEqual({ ExecutionsLate: 0 });
    const [waiting, worked] = [await start(), await start()];
    const held = await lease(worked, 700_000);
    pass(300_000);
    expect(await measured()).toEqual({ ExecutionsLate: 300 });
    await end(await lease(waiting));
    pass(360_000);
    expect(await measured()).toEqual({ ExecutionsLate: 0 });
    pass(40_000 + 90_000);
    // Its worker was lost: since the lease has expired another worker could lease it.
    expect(await measured()).toEqual({ ExecutionsLate: 90 });
    await end(held);
    await messagedExecutions();
  });

  it('sends messages of executions although the sweep of deliveries fails', async () => {
    const id = await start();
    pass(60_000);
    const failing = vi.spyOn(processContext().table.client, 'send').mockImplementation(() => {
      throw new Error('The table does not answer.');
    });
    await expect(runJob('deliveries')).rejects.toThrow('The table does not answer.');
    failing.mockRestore();
    await runJob('executions');
    expect(await messagedExecutions()).toEqual([id]);
    await end(await lease(id));
  });
});

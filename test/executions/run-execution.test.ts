import { describe, expect, it, vi } from 'vitest';
import type { Answer } from '../../lib/model/converse.ts';
import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { createTestExecutions, scriptedModel, silent, text } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, timeline, clock } = fixture;
const minute = 60_000;

/** Leases an execution, and lets the lease expire, this number of times. */
async function loseWorkers(id: string, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth++) {
    expect(await fixture.lease(id)).toBeDefined();
    clock.now += 30_000;
  }
}

describe('an execution that is run', () => {
  it('is completed with all its fields, and no longer leased', async () => {
    const message = await fixture.start();
    const { startedAt } = (await fixture.execution(message)) as { startedAt: string };
    const slow = async () => {
      await timeline.pause(65_000, new AbortController().signal);
      return text('Done.', 100);
    };
    const counts = await fixture.finish(message, scriptedModel({ work: slow }).tools);
    // Events that did not happen are not counted, not even as 0: each count is written as a metric.
    expect(counts).toEqual({ ExecutionsCompleted: 1 });
    const execution = await fixture.execution(message);
    expect(execution).toMatchObject({
      status: 'completed',
      output: 'Done.',
      tokensUsed: 111,
      durationMs: 65_000,
      completedAt: new Date(Date.parse(startedAt) + 65_000).toISOString(),
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
    });
    for (const field of ['error', 'claim', 'leaseUntil']) expect(execution).not.toHaveProperty(field);
    expect(timeline.waiting()).toBe(0);
  });

  it('fails with the error of the model', async () => {
    const message = await fixture.start();
    const error = 'There is no such model, or it cannot be used from here.';
    await fixture.finish(message, scriptedModel({ work: { kind: 'failed', error, tokens: 7 } }).tools);
    const execution = await fixture.execution(message);
    expect(execution).toMatchObject({ status: 'failed', error, tokensUsed: 7 });
    expect(execution?.qualityGates).toEqual({ selfTest: 'skipped', qaReview: 'skipped' });
    expect(execution).not.toHaveProperty('output');
  });

  it.each<[string, () => Promise<string>]>([
    [
      'has ended',
      async () => {
        const message = await fixture.start();
        await fixture.finish(message, scriptedModel().tools);
        return message.executionId;
      },
    ],
    ['is leased by another worker', async () => (await fixture.leased()).id],
    ['does not exist', async () => 'ex_01K00000000000000000000000'],
  ])('and %s stays unchanged, and no model is asked', async (_, idOf) => {
    const executionId = await idOf();
    const before = await fixture.dump();
    const { tools, asked } = scriptedModel();
    await fixture.finish({ organization, executionId }, tools);
    expect(await fixture.dump()).toEqual(before);
    expect(asked).toEqual([]);
  });

  it('has no negative duration if the clock of the worker is slow', async () => {
    const message = await fixture.start();
    clock.now -= 5_000;
    await fixture.finish(message, scriptedModel().tools);
    clock.now += 5_000;
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', durationMs: 0 });
  });
});

describe('an execution whose worker was lost', () => {
  it('once is completed by the next worker', async () => {
    const message = await fixture.start();
    await loseWorkers(message.executionId, 1);
    await fixture.finish(message, scriptedModel().tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('twice fails as lost, and no model is asked again', async () => {
    const message = await fixture.start();
    await loseWorkers(message.executionId, 2);
    const { tools, asked } = scriptedModel();
    expect(await fixture.finish(message, tools)).toEqual({ ExecutionsFailed: 1, WorkLost: 1 });
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'lost', tokensUsed: 0 });
    expect(asked).toEqual([]);
  });

  it('a third time, before it wrote that, fails as lost too', async () => {
    const message = await fixture.start();
    await loseWorkers(message.executionId, 3);
    await fixture.finish(message, scriptedModel().tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'lost' });
  });
});

describe('the deadline, ten minutes after the first lease,', () => {
  it('ends an execution that a worker is running, at the deadline', async () => {
    const message = await fixture.start();
    await fixture.finish(message, scriptedModel({ work: silent }).tools);
    const failed = { status: 'failed', error: 'deadline', durationMs: 10 * minute };
    expect(await fixture.execution(message)).toMatchObject(failed);
    expect(timeline.waiting()).toBe(0);
  });

  it('does not count the time before it', async () => {
    const message = await fixture.start();
    clock.now += 59 * minute;
    await fixture.finish(message, scriptedModel({ work: silent }).tools);
    const failed = { status: 'failed', error: 'deadline', durationMs: 69 * minute };
    expect(await fixture.execution(message)).toMatchObject(failed);
  });

  it('ends an execution whose worker was lost, and no model is asked', async () => {
    const message = await fixture.start();
    await loseWorkers(message.executionId, 1);
    clock.now += 10 * minute;
    const { tools, asked } = scriptedModel();
    await fixture.finish(message, tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'deadline', tokensUsed: 0 });
    expect(asked).toEqual([]);
  });

  it('does not end an execution whose first worker leases it within that time', async () => {
    const message = await fixture.start();
    clock.now += 10 * minute - 1;
    await fixture.finish(message, scriptedModel().tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed' });
  });

  it('during the gates ends them, and the execution is completed', async () => {
    const message = await fixture.start();
    await fixture.finish(message, scriptedModel({ qaReview: silent }).tools);
    expect(await fixture.execution(message)).toMatchObject({
      status: 'completed',
      durationMs: 10 * minute,
      tokensUsed: 110,
      qualityGates: { selfTest: 'passed', qaReview: 'skipped' },
    });
  });
});

describe('a worker that has lost its lease', () => {
  it('does not end the execution: the end of the other worker is the only one', async () => {
    const message = await fixture.start();
    const stolen = async () => {
      // The lease expires without a renewal, and another worker ends the execution.
      clock.now += 30_000;
      await fixture.run(message, scriptedModel({ work: text('The other’s.', 5) }).tools);
      return text('Too late.', 100);
    };
    const { tools } = scriptedModel({ work: stolen });
    await fixture.run(message, tools);
    const ended = await fixture.execution(message);
    expect(ended).toMatchObject({ status: 'completed', output: 'The other’s.', tokensUsed: 16 });
  });

  it('aborts its call when a renewal is rejected, and writes nothing', async () => {
    const message = await fixture.start();
    let before: unknown;
    const { tools, asked } = scriptedModel({
      work: async (question) => {
        clock.now += 30_000;
        await fixture.lease(message.executionId, 'another');
        before = await fixture.dump();
        return silent(question);
      },
    });
    const begun = clock();
    await fixture.finish(message, tools);
    expect(clock() - begun).toBeLessThan(minute);
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(await fixture.dump()).toEqual(before);
  });

  it('while its model throttled does not change the lease of the other worker', async () => {
    const message = await fixture.start();
    const throttle = async (): Promise<Answer> => {
      clock.now += 30_000;
      await fixture.lease(message.executionId, 'another');
      return { kind: 'throttled', tokens: 0 };
    };
    // One call uses up a worker's patience, so the lease is returned before a renewal is rejected.
    vi.spyOn(Math, 'random').mockReturnValue(10);
    await fixture.finish(message, scriptedModel({ work: throttle }).tools);
    vi.restoreAllMocks();
    const { organization: of, executionId: id } = message;
    expect(await readExecutionHead(fixture.context, { organization: of, id })).toMatchObject({
      claims: 2,
      claim: 'another',
    });
    expect(await readExecutionHead(fixture.context, { organization: of, id })).not.toHaveProperty('progress');
  });
});

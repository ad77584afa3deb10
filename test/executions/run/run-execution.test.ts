import { describe, expect, it, vi } from 'vitest';
import { runExecution } from '../../../lib/executions/run/run-execution.ts';
import type { ModelAnswer, Question } from '../../../lib/model/converse.ts';
import { estimatedInput } from '../../../lib/model/input-estimate.ts';
import { faultsOf } from '../../table/tasks/oracle.ts';
import { createTestExecutions, scriptedModel, silent, text, withoutTokens } from '../test-executions.ts';

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

/** Starts an execution, lets `before` happen, and runs it; returns it with the questions and the counts. */
async function run(says: Parameters<typeof scriptedModel>[0] = {}, before: (id: string) => unknown = () => {}) {
  const message = await fixture.start();
  await before(message.executionId);
  const { tools, asked } = scriptedModel(says);
  const counts = await fixture.finish(message, tools);
  expect(timeline.waiting()).toBe(0);
  return { execution: await fixture.execution(message), asked, counts };
}

describe('an execution that is run', () => {
  it('is completed with all its fields, and no longer leased', async () => {
    const slow = async () => {
      await timeline.pause(65_000, new AbortController().signal);
      return text('Done.', 100);
    };
    const { execution, counts } = await run({ work: slow });
    // Events that did not happen are not counted, not even as 0: each count is written as a metric.
    expect(counts).toEqual({ ExecutionsCompleted: 1 });
    expect(execution).toMatchObject({
      ...{ status: 'completed', output: 'Done.', tokensUsed: 111, durationMs: 65_000 },
      completedAt: new Date(Date.parse(execution?.startedAt as string) + 65_000).toISOString(),
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
    });
    for (const field of ['error', 'claim', 'leaseUntil']) expect(execution).not.toHaveProperty(field);
  });

  it.each<[string, ModelAnswer]>([
    ['completed', text('Done.', 100)],
    ['failed', { kind: 'failed', error: 'No.', tokens: 0 }],
  ])('names the model that answered instead of its own when it is %s', async (status, work) => {
    const message = await fixture.start();
    const { tools, asked } = scriptedModel({ work });
    await fixture.finish(message, { ...tools, answeringModel: () => 'simulator' });
    expect(asked[0]?.model).toBe('writer.model');
    expect(await fixture.execution(message)).toMatchObject({ status, model: 'simulator' });
  });

  it.each<[string, ModelAnswer, object]>([
    ['completed', text('A private output.', 100), { error: undefined, selfTest: 'passed', qaReview: 'passed' }],
    ['failed', { kind: 'failed', error: 'No.', tokens: 7 }, { error: 'No.', selfTest: 'skipped', qaReview: 'skipped' }],
  ])('logs that it %s, and no text of it', async (status, work, result) => {
    const message = await fixture.start({ input: 'A private input.' });
    const { tools } = scriptedModel({ work });
    const { counts, ...fields } = await timeline.finish(runExecution(fixture.context, message, tools));
    expect(fields).toEqual({ agentName: 'writer', status, durationMs: 0, ...result });
  });

  it.each<[string, () => Promise<string>]>([
    ['has ended', async () => (await run()).execution?.id as string],
    ['is leased by another worker', async () => (await fixture.leased()).id],
    ['does not exist', async () => 'ex_01K00000000000000000000000'],
  ])('and %s stays unchanged, and no model is asked', async (_, idOf) => {
    const executionId = await idOf();
    const before = await fixture.dump();
    const { tools, asked } = scriptedModel();
    await fixture.finish({ organization, executionId }, tools);
    expect([await fixture.dump(), asked]).toEqual([before, []]);
  });

  it('has no negative duration if the clock of the worker is slow', async () => {
    const { execution } = await run({}, () => {
      clock.now -= 5_000;
    });
    clock.now += 5_000;
    expect(execution).toMatchObject({ status: 'completed', durationMs: 0 });
  });
});

describe('an execution whose worker was lost', () => {
  it('once is completed by the next worker, which counts the estimated input of the call that the lost one had begun', async () => {
    const { execution, asked } = await run({}, (id) => loseWorkers(id, 1));
    const tokensUsed = 111 + estimatedInput(asked[0] as Question);
    const expected = { status: 'completed', output: 'Done.', tokensUsed, tokensEstimated: true };
    expect(execution).toMatchObject(expected);
  });

  // A third worker can be lost before it wrote the end.
  it.each([2, 3])(
    '%i times fails as lost, with an estimate for both calls, and no model is asked again',
    async (times) => {
      const tokensUsed = 2 * estimatedInput((await run()).asked[0] as Question);
      const { execution, asked, counts } = await run({}, (id) => loseWorkers(id, times));
      expect(execution).toMatchObject({ status: 'failed', error: 'lost', tokensUsed, tokensEstimated: true });
      expect([counts, asked]).toEqual([{ ExecutionsFailed: 1, WorkLost: 1 }, []]);
    },
  );

  it('twice fails as lost even if what its workers read makes them fail', async () => {
    const message = await fixture.start();
    await loseWorkers(message.executionId, 2);
    const grantedTools = () => {
      throw new Error('A bug.');
    };
    const { tools } = scriptedModel();
    await fixture.finish(message, { ...tools, agentTools: { ...tools.agentTools, grantedTools } as never });
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'lost', tokensUsed: 0 });
  });

  it('more than five times fails as lost without a read of what its workers read', async () => {
    const { execution } = await run({}, (id) => loseWorkers(id, 6));
    expect(execution).toMatchObject({ status: 'failed', error: 'lost', tokensUsed: 0 });
  });
});

describe('the deadline, ten minutes after the first lease,', () => {
  it('ends an execution that a worker is running, at the deadline; the time before the lease does not count', async () => {
    const { execution } = await run({ work: silent }, () => {
      clock.now += 59 * minute;
    });
    const errorReason = 'It took longer than the time limit of the deployment.';
    expect(execution).toMatchObject({ status: 'failed', error: 'deadline', errorReason, durationMs: 69 * minute });
  });

  it('ends an execution whose worker was lost, and no model is asked', async () => {
    const tokensUsed = estimatedInput((await run()).asked[0] as Question);
    const { execution, asked } = await run({}, async (id) => {
      await loseWorkers(id, 1);
      clock.now += 10 * minute - 30_000;
    });
    expect(execution).toMatchObject({ status: 'failed', error: 'deadline', tokensUsed });
    expect(asked).toEqual([]);
  });

  it('during the gates ends them, and the execution is completed', async () => {
    const { execution, asked } = await run({ qaReview: silent });
    const qualityGates = { selfTest: 'passed', qaReview: 'skipped' };
    const tokensUsed = 110 + estimatedInput(asked.find(({ purpose }) => purpose === 'qaReview') as Question);
    expect(execution).toMatchObject({ status: 'completed', durationMs: 10 * minute, tokensUsed, qualityGates });
  });
});

describe('a worker that has lost its lease', () => {
  it('does not end the execution: the end of the other worker is the only one, and its tokens are added to that', async () => {
    const message = await fixture.start();
    let other: Question | undefined;
    const work = async () => {
      // The lease expires without a renewal, and another worker ends the execution.
      clock.now += 30_000;
      const { tools, asked } = scriptedModel({ work: text('The other’s.', 5) });
      await fixture.run(message, tools);
      other = asked[0];
      return text('Too late.', 100);
    };
    await fixture.run(message, scriptedModel({ work }).tools);
    // The other worker takes this one for lost, and counts its call with an estimate.
    const tokensUsed = 16 + estimatedInput(other as Question) + 100;
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', output: 'The other’s.', tokensUsed });
    expect(await faultsOf(fixture.table, organization)).toEqual([]);
  });

  /** Runs an execution of which another worker takes the lease during the call; returns the items from then on. */
  async function runStolen(says: (question: Parameters<typeof silent>[0]) => ModelAnswer | Promise<ModelAnswer>) {
    const message = await fixture.start();
    let before: unknown;
    const { tools, asked } = scriptedModel({
      work: async (question) => {
        clock.now += 30_000;
        await fixture.lease(message.executionId, 'another');
        before = await fixture.dump();
        return says(question);
      },
    });
    await fixture.finish(message, tools);
    return { before, after: await fixture.dump(), asked };
  }

  it('aborts its call when a renewal is rejected, and writes nothing but its tokens', async () => {
    const begun = clock();
    const { before, after, asked } = await runStolen(silent);
    expect(clock() - begun).toBeLessThan(minute);
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(withoutTokens(after)).toEqual(withoutTokens(before));
  });

  it('while its model throttled does not change the lease of the other worker', async () => {
    // One call uses up a worker's patience, so the lease is returned before a renewal is rejected.
    vi.spyOn(Math, 'random').mockReturnValue(10);
    const { before, after } = await runStolen(() => ({ kind: 'throttled', tokens: 0 }));
    vi.restoreAllMocks();
    expect(after).toEqual(before);
  });
});

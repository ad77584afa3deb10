import { describe, expect, it, vi } from 'vitest';
import type { Answer } from '../../lib/model/converse.ts';
import { readExecutionHead } from '../../lib/table/executions.ts';
import { openWorkshop, scriptedModel, silent, text } from './workshop.ts';

const workshop = await openWorkshop({ cap: 1_000 });
const { organization, timeline, clock } = workshop;
const minute = 60_000;

/** Takes an execution in hand and dies of it, so often; each time until the lease has run out. */
async function loseWorkers(id: string, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth++) {
    expect(await workshop.lease(id)).toBeDefined();
    clock.now += 30_000;
  }
}

describe('an execution that is run', () => {
  it('is completed with all its fields, and no longer leased', async () => {
    const message = await workshop.start();
    const { startedAt } = (await workshop.execution(message)) as { startedAt: string };
    const slow = async () => {
      await timeline.pause(65_000, new AbortController().signal);
      return text('Done.', 100);
    };
    const counts = await workshop.finish(message, scriptedModel({ work: slow }).tools);
    // What has not happened is not counted, not even as 0: each count is a metric that is written.
    expect(counts).toEqual({ ExecutionsCompleted: 1 });
    const execution = await workshop.execution(message);
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

  it('has failed where the model has, and says why', async () => {
    const message = await workshop.start();
    const error = 'There is no such model, or it cannot be used from here.';
    await workshop.finish(message, scriptedModel({ work: { kind: 'failed', error, tokens: 7 } }).tools);
    const execution = await workshop.execution(message);
    expect(execution).toMatchObject({ status: 'failed', error, tokensUsed: 7 });
    expect(execution?.qualityGates).toEqual({ selfTest: 'skipped', qaReview: 'skipped' });
    expect(execution).not.toHaveProperty('output');
  });

  it('by ten workers at once is worked on by one', async () => {
    const message = await workshop.start();
    const { tools, times } = scriptedModel();
    await Promise.all(Array.from({ length: 10 }, () => workshop.run(message, tools)));
    expect(times('work')).toBe(1);
    expect(await workshop.execution(message)).toMatchObject({ status: 'completed' });
  });

  it.each<[string, () => Promise<string>]>([
    [
      'has ended',
      async () => {
        const message = await workshop.start();
        await workshop.finish(message, scriptedModel().tools);
        return message.executionId;
      },
    ],
    ['is leased by another worker', async () => (await workshop.leased()).id],
    ['there is not', async () => 'ex_01K00000000000000000000000'],
  ])('though it %s is left as it is, and asks nobody', async (_, idOf) => {
    const executionId = await idOf();
    const before = await workshop.dump();
    const { tools, asked } = scriptedModel();
    await workshop.finish({ organization, executionId }, tools);
    expect(await workshop.dump()).toEqual(before);
    expect(asked).toEqual([]);
  });

  it('ends no sooner than it began, whatever a worker’s clock says', async () => {
    const message = await workshop.start();
    clock.now -= 5_000;
    await workshop.finish(message, scriptedModel().tools);
    clock.now += 5_000;
    expect(await workshop.execution(message)).toMatchObject({ status: 'completed', durationMs: 0 });
  });
});

describe('an execution whose worker was lost', () => {
  it('once is completed by the next', async () => {
    const message = await workshop.start();
    await loseWorkers(message.executionId, 1);
    await workshop.finish(message, scriptedModel().tools);
    expect(await workshop.execution(message)).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('twice fails as lost, and asks no model again', async () => {
    const message = await workshop.start();
    await loseWorkers(message.executionId, 2);
    const { tools, asked } = scriptedModel();
    expect(await workshop.finish(message, tools)).toEqual({ ExecutionsFailed: 1, WorkLost: 1 });
    expect(await workshop.execution(message)).toMatchObject({ status: 'failed', error: 'lost', tokensUsed: 0 });
    expect(asked).toEqual([]);
  });

  it('and whose end as lost was lost too, is lost all the same', async () => {
    const message = await workshop.start();
    await loseWorkers(message.executionId, 3);
    await workshop.finish(message, scriptedModel().tools);
    expect(await workshop.execution(message)).toMatchObject({ status: 'failed', error: 'lost' });
  });

  it('is not worked on before its lease has run out', async () => {
    const message = await workshop.start();
    await workshop.lease(message.executionId);
    clock.now += 29_999;
    const { tools, times } = scriptedModel();
    await workshop.finish(message, tools);
    expect(times('work')).toBe(0);
    clock.now += 1;
    await workshop.finish(message, tools);
    expect(times('work')).toBe(1);
  });
});

describe('the deadline, ten minutes after the first lease,', () => {
  it('ends an execution that a worker is running, at the deadline', async () => {
    const message = await workshop.start();
    await workshop.finish(message, scriptedModel({ work: silent }).tools);
    const failed = { status: 'failed', error: 'deadline', durationMs: 10 * minute };
    expect(await workshop.execution(message)).toMatchObject(failed);
    expect(timeline.waiting()).toBe(0);
  });

  it('does not count the time before it', async () => {
    const message = await workshop.start();
    clock.now += 59 * minute;
    await workshop.finish(message, scriptedModel({ work: silent }).tools);
    const failed = { status: 'failed', error: 'deadline', durationMs: 69 * minute };
    expect(await workshop.execution(message)).toMatchObject(failed);
  });

  it('ends one whose worker was lost, and asks no model', async () => {
    const message = await workshop.start();
    await loseWorkers(message.executionId, 1);
    clock.now += 10 * minute;
    const { tools, asked } = scriptedModel();
    await workshop.finish(message, tools);
    expect(await workshop.execution(message)).toMatchObject({ status: 'failed', error: 'deadline', tokensUsed: 0 });
    expect(asked).toEqual([]);
  });

  it('leaves one that is begun a moment before the time that is left', async () => {
    const message = await workshop.start();
    clock.now += 10 * minute - 1;
    await workshop.finish(message, scriptedModel().tools);
    expect(await workshop.execution(message)).toMatchObject({ status: 'completed' });
  });

  it('within the gates leaves the work completed', async () => {
    const message = await workshop.start();
    await workshop.finish(message, scriptedModel({ qaReview: silent }).tools);
    expect(await workshop.execution(message)).toMatchObject({
      status: 'completed',
      durationMs: 10 * minute,
      tokensUsed: 110,
      qualityGates: { selfTest: 'passed', qaReview: 'skipped' },
    });
  });
});

describe('a worker that has lost its lease', () => {
  it('does not end the execution: the end of the other worker is the only one', async () => {
    const message = await workshop.start();
    const stolen = async () => {
      // Nothing came through from this worker for all of its lease, and another has ended it meanwhile.
      clock.now += 30_000;
      await workshop.run(message, scriptedModel({ work: text('The other’s.', 5) }).tools);
      return text('Too late.', 100);
    };
    const { tools } = scriptedModel({ work: stolen });
    await workshop.run(message, tools);
    const ended = await workshop.execution(message);
    expect(ended).toMatchObject({ status: 'completed', output: 'The other’s.', tokensUsed: 16 });
  });

  it('has its call aborted by the renewal that is rejected, and writes nothing', async () => {
    const message = await workshop.start();
    let before: unknown;
    const { tools, asked } = scriptedModel({
      work: async (question) => {
        clock.now += 30_000;
        await workshop.lease(message.executionId, 'another');
        before = await workshop.dump();
        return silent(question);
      },
    });
    const begun = clock();
    await workshop.finish(message, tools);
    expect(clock() - begun).toBeLessThan(minute);
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(await workshop.dump()).toEqual(before);
  });

  it('to another while its model throttled leaves the other’s lease as it is', async () => {
    const message = await workshop.start();
    const throttle = async (): Promise<Answer> => {
      clock.now += 30_000;
      await workshop.lease(message.executionId, 'another');
      return { kind: 'throttled', tokens: 0 };
    };
    // One call uses up a worker's patience, so that the lease is given back before its renewal is refused.
    vi.spyOn(Math, 'random').mockReturnValue(10);
    await workshop.finish(message, scriptedModel({ work: throttle }).tools);
    vi.restoreAllMocks();
    const { organization: of, executionId: id } = message;
    expect(await readExecutionHead(workshop.context, { organization: of, id })).toMatchObject({
      claims: 2,
      claim: 'another',
    });
    expect(await readExecutionHead(workshop.context, { organization: of, id })).not.toHaveProperty('progress');
  });
});

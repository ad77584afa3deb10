import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { ModelAnswer } from '../../lib/model/converse.ts';
import type { ExecutionMessage } from '../../lib/names/messages.ts';
import type { Counts } from '../../lib/names/metrics.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { queryItems } from '../../lib/table/access/reads.ts';
import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, timeline, clock, sent } = fixture;
const second = 1_000;
const minute = 60 * second;
const throttled: ModelAnswer = { kind: 'throttled', tokens: 0 };
const faulty: ModelAnswer = { kind: 'faulty', error: 'The model could not be reached, or had a fault.', tokens: 2 };

beforeEach(() => {
  sent.length = 0;
});

/** Returns a step of a model that is throttled for this time from now on, and then answers. */
const throttledFor = (milliseconds: number, answer: ModelAnswer) => {
  const until = clock() + milliseconds;
  return () => (clock() < until ? throttled : answer);
};

const headOf = ({ executionId: id }: ExecutionMessage) => readExecutionHead(fixture.context, { organization, id });
const throttlesOf = (counts: readonly Counts[]) =>
  counts.reduce((sum, { ModelThrottles = 0 }) => sum + ModelThrottles, 0);

/** Starts an execution whose worker returns its lease because its model throttles. */
async function returnLease(says: Parameters<typeof scriptedModel>[0] = { work: throttled }) {
  const started = { message: await fixture.start(), begun: clock(), ...scriptedModel(says) };
  return { ...started, counts: await fixture.finish(started.message, started.tools) };
}

/** Starts an execution, and runs it by one worker after the other until it ends. */
async function runToEnd(says: Parameters<typeof scriptedModel>[0]) {
  const started = { message: await fixture.start(), begun: clock(), ...scriptedModel(says) };
  const counts = await fixture.finishAll(started.message, started.tools);
  return { ...started, counts, execution: await fixture.execution(started.message) };
}

/** Lets the message of an execution be received a number of times; returns the delays of the next ones. */
async function receiveAgain({ message, tools }: Awaited<ReturnType<typeof returnLease>>, times: number) {
  const delays: number[] = [];
  for (let nth = 0; nth < times; nth++) {
    await timeline.pass((sent.pop()?.delaySeconds as number) * second);
    await fixture.finish(message, tools);
    delays.push(sent.at(-1)?.delaySeconds as number);
  }
  return delays;
}

/** Leases an execution by a worker that is then lost. */
async function loseWorker({ executionId }: ExecutionMessage): Promise<void> {
  await timeline.pass(30 * second);
  expect(await fixture.lease(executionId)).toBeDefined();
  await timeline.pass(30 * second);
}

describe('an execution whose model throttles', () => {
  it('occupies its worker for 5 seconds at most, and is sent again for 8 to 15 seconds later', async () => {
    const { message, begun, counts, asked } = await returnLease();
    expect(clock() - begun).toBeLessThanOrEqual(5 * second);
    expect(counts).toEqual({ ModelThrottles: asked.length });
    expect(sent).toEqual([{ message, delaySeconds: expect.any(Number) }]);
    expect(sent[0]?.delaySeconds).toBeGreaterThanOrEqual(8);
    expect(sent[0]?.delaySeconds).toBeLessThanOrEqual(15);
    expect(timeline.waiting()).toBe(0);
    // It is still running, and can be leased only after that time.
    const head = await headOf(message);
    expect(head).toMatchObject({ status: 'running', claims: 0, selfTest: 'pending' });
    expect(head).not.toHaveProperty('claim');
    expect(await fixture.execution(message)).toMatchObject({ status: 'running', waitingForModel: true });
    const resumeAt = Date.parse(head?.leaseUntil as string);
    await timeline.until(resumeAt - 1);
    expect(await fixture.lease(message.executionId)).toBeUndefined();
    await timeline.pass(1);
    expect(await fixture.lease(message.executionId)).toMatchObject({ claims: 1, firstLeasedAt: head?.firstLeasedAt });
  });

  it('is completed when the throttling ends, and every throttled call is counted once', async () => {
    const work = throttledFor(3 * minute, text('Done.', 100));
    const { message, counts, execution, times } = await runToEnd({ work });
    expect(counts.length).toBeGreaterThan(3);
    expect(throttlesOf(counts)).toBe(times('work') - 1);
    expect(counts.map(({ ExecutionsCompleted = 0 }) => ExecutionsCompleted).join('')).toMatch(/^0+1$/);
    expect(execution).toMatchObject({ status: 'completed', output: 'Done.', tokensUsed: 111 });
    expect(await headOf(message)).not.toHaveProperty('progress');
  });

  it('for ever fails at the deadline, ten minutes after its first lease', async () => {
    const { begun, counts, execution } = await runToEnd({ work: throttled });
    expect(execution).toMatchObject({ status: 'failed', error: 'deadline', tokensUsed: 0 });
    expect(execution?.errorReason).toMatch(/ waiting for its model/);
    expect(execution).not.toHaveProperty('waitingForModel');
    // A message is received in whole seconds.
    expect(clock() - begun).toBeGreaterThanOrEqual(10 * minute);
    expect(clock() - begun).toBeLessThan(10 * minute + second);
    expect(counts.at(-1)).toMatchObject({ ExecutionsFailed: 1 });
  });

  it('fails at its third fault, even if each fault is of another worker, with the tokens of all', async () => {
    const answers = [faulty, ...Array(9).fill(throttled), faulty, ...Array(9).fill(throttled), faulty];
    const { counts, execution, asked } = await runToEnd({ work: () => answers.shift() as ModelAnswer });
    expect(counts.length).toBeGreaterThan(2);
    expect(asked).toHaveLength(21);
    expect(execution).toMatchObject({ status: 'failed', error: faulty.error, tokensUsed: 6 });
  });

  it('is not lost by returned leases, but by the second lost worker', async () => {
    const returned = await returnLease();
    const { message, tools } = returned;
    const delays = await receiveAgain(returned, 6);
    // It waits longer between later tries.
    expect(delays.filter((delay) => delay < 15 || delay > 30)).toEqual([]);
    await loseWorker(message);
    await fixture.finish(message, tools);
    expect(await headOf(message)).toMatchObject({ status: 'running', claims: 1 });
    await loseWorker(message);
    expect(await fixture.finish(message, tools)).toEqual({ ExecutionsFailed: 1, WorkLost: 1 });
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'lost' });
  });

  it('and is lost afterwards keeps no part of the stored answer', async () => {
    const { message, tools } = await returnLease({ selfTest: throttled });
    const pk = keys.execution(organization, ulidOf(message.executionId));
    const outputs = () => Array.fromAsync(queryItems(fixture.table, { pk, from: 'OUT#', to: 'OUT#~' }));
    expect(await outputs()).toHaveLength(1);
    for (let lost = 0; lost < 2; lost++) await loseWorker(message);
    await fixture.finish(message, tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'lost' });
    expect(await outputs()).toEqual([]);
  });
});

it('an execution whose gate throttles keeps its work and the other verdict; neither is asked again', async () => {
  // Larger than an item, so it is stored in several.
  const output = 'ö'.repeat(400_000);
  const qaReview = throttledFor(2 * minute, text('VERDICT: FAIL', 1));
  const { counts, execution, times } = await runToEnd({ work: text(output, 100), qaReview });
  expect(counts.length).toBeGreaterThan(3);
  expect([times('work'), times('selfTest')]).toEqual([1, 1]);
  expect(throttlesOf(counts)).toBe(times('qaReview') - 1);
  const qualityGates = { selfTest: 'passed', qaReview: 'failed' };
  const gateReasons = { selfTest: 'VERDICT: PASS', qaReview: 'VERDICT: FAIL' };
  expect(execution).toMatchObject({ status: 'completed', output, tokensUsed: 111, qualityGates, gateReasons });
});

it('an execution whose gate throttles shows neither output nor verdict before its end', async () => {
  const execution = await fixture.execution((await returnLease({ qaReview: throttled })).message);
  expect(execution).toMatchObject({ qualityGates: { selfTest: 'pending', qaReview: 'pending' } });
  for (const field of ['output', 'tokensUsed', 'gateReasons']) expect(execution).not.toHaveProperty(field);
});

it('an execution whose gate throttles until the deadline is completed, with that gate skipped', async () => {
  const { begun, counts, execution, times } = await runToEnd({ selfTest: throttled });
  const qualityGates = { selfTest: 'skipped', qaReview: 'passed' };
  expect(execution).toMatchObject({ status: 'completed', output: 'Done.', tokensUsed: 101, qualityGates });
  expect(clock() - begun).toBeLessThan(10 * minute + second);
  expect([throttlesOf(counts), times('work')]).toEqual([times('selfTest'), 1]);
});

describe('an execution that waits for its first worker', () => {
  it('for an hour is run', async () => {
    const message = await fixture.start();
    clock.now += 60 * minute;
    await fixture.finish(message, scriptedModel().tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', durationMs: 60 * minute });
  });

  it.each([false, true])(
    'for longer fails as not_started; no model is asked, and its task is released (first worker lost: %s)',
    async (isLost) => {
      const { id: taskId } = await fixture.addTask();
      const message = await fixture.start({ taskId });
      clock.now += 60 * minute + 1;
      if (isLost) await loseWorker(message);
      const { tools, asked } = scriptedModel();
      expect(await fixture.finish(message, tools)).toEqual({ ExecutionsFailed: 1 });
      const failed = { status: 'failed', error: 'not_started', tokensUsed: 0 };
      expect(await fixture.execution(message)).toMatchObject(failed);
      expect(await fixture.task(taskId)).toMatchObject({ status: 'assigned' });
      expect(asked).toEqual([]);
    },
  );
});

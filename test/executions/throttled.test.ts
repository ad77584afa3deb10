import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { ExecutionMessage } from '../../lib/deployment/messages.ts';
import type { Counts } from '../../lib/deployment/metrics.ts';
import { sweepExecutions } from '../../lib/executions/execution-messages.ts';
import type { Answer } from '../../lib/model/converse.ts';
import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { keys } from '../../lib/table/keys.ts';
import { queryItems } from '../../lib/table/reads.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, timeline, clock, sent } = fixture;
const second = 1_000;
const minute = 60 * second;
const throttled: Answer = { kind: 'throttled', tokens: 0 };
const faulty: Answer = { kind: 'faulty', error: 'The model could not be reached, or had a fault.', tokens: 2 };

/** Returns a step of a model that is throttled for this time from now on, and then answers. */
const throttledFor = (milliseconds: number, answer: Answer) => {
  const until = clock() + milliseconds;
  return () => (clock() < until ? throttled : answer);
};

const headOf = ({ executionId: id }: ExecutionMessage) => readExecutionHead(fixture.context, { organization, id });
const throttlesOf = (counts: readonly Counts[]) =>
  counts.reduce((sum, { ModelThrottles = 0 }) => sum + ModelThrottles, 0);

/** Starts an execution whose worker returns its lease because its model throttles. */
async function returned(says: Parameters<typeof scriptedModel>[0] = { work: throttled }) {
  const message = await fixture.start();
  const begun = clock();
  const scripted = scriptedModel(says);
  const counts = await fixture.finish(message, scripted.tools);
  return { message, begun, counts, ...scripted };
}

describe('an execution whose model throttles', () => {
  it('occupies its worker for 5 seconds at most, and is sent again for 8 to 15 seconds later', async () => {
    const { message, begun, counts, asked } = await returned();
    expect(clock() - begun).toBeLessThanOrEqual(5 * second);
    expect(counts).toEqual({ ModelThrottles: asked.length });
    const again = sent.pop();
    expect(again?.message).toEqual(message);
    expect(again?.delaySeconds).toBeGreaterThanOrEqual(8);
    expect(again?.delaySeconds).toBeLessThanOrEqual(15);
    expect(timeline.waiting()).toBe(0);
  });

  it('is still running, and can be leased only after that time', async () => {
    const { message } = await returned();
    sent.length = 0;
    const head = await headOf(message);
    expect(head).toMatchObject({ status: 'running', claims: 0, selfTest: 'pending' });
    expect(head).not.toHaveProperty('claim');
    await timeline.until(Date.parse(head?.leaseUntil as string) - 1);
    expect(await fixture.lease(message.executionId)).toBeUndefined();
    await timeline.pass(1);
    expect(await fixture.lease(message.executionId)).toMatchObject({ claims: 1, firstLeasedAt: head?.firstLeasedAt });
  });

  it('waits longer between later tries, 15 to 30 seconds', async () => {
    const { message, tools } = await returned();
    const delays: number[] = [];
    for (let next = sent.pop(); delays.length < 6; next = sent.pop()) {
      await timeline.pass((next?.delaySeconds as number) * second);
      await fixture.finish(message, tools);
      delays.push(sent.at(-1)?.delaySeconds as number);
    }
    sent.length = 0;
    expect(delays.every((delay) => delay >= 15 && delay <= 30)).toBe(true);
  });

  it('is completed when the throttling ends, and every throttled call is counted once', async () => {
    const message = await fixture.start();
    const { tools, times } = scriptedModel({ work: throttledFor(3 * minute, text('Done.', 100)) });
    const counts = await fixture.finishAll(message, tools);
    expect(counts.length).toBeGreaterThan(3);
    expect(throttlesOf(counts)).toBe(times('work') - 1);
    expect(counts.at(-1)).toMatchObject({ ExecutionsCompleted: 1 });
    expect(counts.filter(({ ExecutionsCompleted }) => ExecutionsCompleted)).toHaveLength(1);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', output: 'Done.', tokensUsed: 111 });
    expect(await headOf(message)).not.toHaveProperty('progress');
  });

  it('for ever fails at the deadline, ten minutes after its first lease', async () => {
    const message = await fixture.start();
    clock.now += 20 * minute;
    const begun = clock();
    const counts = await fixture.finishAll(message, scriptedModel({ work: throttled }).tools);
    const { durationMs, ...failed } = (await fixture.execution(message)) ?? {};
    expect(failed).toMatchObject({ status: 'failed', error: 'deadline', tokensUsed: 0 });
    // A message is received in whole seconds.
    expect(clock() - begun).toBeGreaterThanOrEqual(10 * minute);
    expect(clock() - begun).toBeLessThan(10 * minute + second);
    expect(durationMs).toBe(20 * minute + clock() - begun);
    expect(counts.at(-1)).toMatchObject({ ExecutionsFailed: 1 });
  });

  it('fails at its third fault, even if each fault is of another worker, with the tokens of all', async () => {
    const answers = [faulty, ...Array(9).fill(throttled), faulty, ...Array(9).fill(throttled), faulty];
    const message = await fixture.start();
    const { tools, asked } = scriptedModel({ work: () => answers.shift() as Answer });
    const counts = await fixture.finishAll(message, tools);
    expect(counts.length).toBeGreaterThan(2);
    expect(asked).toHaveLength(21);
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: faulty.error, tokensUsed: 6 });
  });

  it('is not lost by returned leases, but by the second lost worker', async () => {
    const { message, tools } = await returned();
    for (let waits = 0; waits < 5; waits++) {
      await timeline.pass((sent.pop()?.delaySeconds as number) * second);
      await fixture.finish(message, tools);
    }
    sent.length = 0;
    const lose = async () => {
      await timeline.pass(30 * second);
      expect(await fixture.lease(message.executionId)).toBeDefined();
    };
    await lose();
    await timeline.pass(30 * second);
    await fixture.finish(message, tools);
    expect(await headOf(message)).toMatchObject({ status: 'running', claims: 1 });
    sent.length = 0;
    await lose();
    await timeline.pass(30 * second);
    expect(await fixture.finish(message, tools)).toEqual({ ExecutionsFailed: 1, WorkLost: 1 });
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'lost' });
  });

  it('and is lost afterwards keeps no part of the stored answer', async () => {
    const { message, tools } = await returned({ selfTest: throttled });
    sent.length = 0;
    const pk = keys.execution(organization, ulidOf(message.executionId));
    const outputs = () => Array.fromAsync(queryItems(fixture.table, { pk, from: 'OUT#', to: 'OUT#~' }));
    expect(await outputs()).toHaveLength(1);
    for (let lost = 0; lost < 2; lost++) {
      await timeline.pass(30 * second);
      expect(await fixture.lease(message.executionId)).toBeDefined();
    }
    await timeline.pass(30 * second);
    await fixture.finish(message, tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'lost' });
    expect(await outputs()).toEqual([]);
  });

  it('is found by the sweep a minute after that time if its message was lost', async () => {
    const { message } = await returned();
    sent.length = 0;
    const { leaseUntil } = (await headOf(message)) as { leaseUntil: string };
    const resumeAt = Date.parse(leaseUntil);
    const sweptAt = async (moment: number) => {
      await sweepExecutions(fixture.context, { until: moment });
      return sent.splice(0).filter((one) => one.message.executionId === message.executionId);
    };
    expect(await sweptAt(resumeAt + minute - 1)).toEqual([]);
    expect(await sweptAt(resumeAt + minute)).toHaveLength(1);
  });
});

describe('an execution whose gate throttles', () => {
  // Larger than an item, so it is stored in several.
  const output = 'ö'.repeat(400_000);

  it('keeps its work and the other verdict; neither is asked again', async () => {
    const message = await fixture.start();
    const { tools, times } = scriptedModel({
      work: text(output, 100),
      qaReview: throttledFor(2 * minute, text('VERDICT: FAIL', 1)),
    });
    const counts = await fixture.finishAll(message, tools);
    expect(counts.length).toBeGreaterThan(3);
    expect([times('work'), times('selfTest')]).toEqual([1, 1]);
    expect(throttlesOf(counts)).toBe(times('qaReview') - 1);
    expect(await fixture.execution(message)).toMatchObject({
      ...{ status: 'completed', output, tokensUsed: 111 },
      qualityGates: { selfTest: 'passed', qaReview: 'failed' },
    });
  });

  it('shows neither output nor verdict before its end', async () => {
    const { message } = await returned({ qaReview: throttled });
    sent.length = 0;
    const execution = await fixture.execution(message);
    expect(execution).toMatchObject({ qualityGates: { selfTest: 'pending', qaReview: 'pending' } });
    expect(execution).not.toHaveProperty('output');
    expect(execution).not.toHaveProperty('tokensUsed');
  });

  it('until the deadline is completed, with that gate skipped', async () => {
    const message = await fixture.start();
    const begun = clock();
    const { tools, times } = scriptedModel({ selfTest: throttled });
    const counts = await fixture.finishAll(message, tools);
    expect(await fixture.execution(message)).toMatchObject({
      ...{ status: 'completed', output: 'Done.', tokensUsed: 101 },
      qualityGates: { selfTest: 'skipped', qaReview: 'passed' },
    });
    expect(clock() - begun).toBeLessThan(10 * minute + second);
    expect(throttlesOf(counts)).toBe(times('selfTest'));
    expect(times('work')).toBe(1);
  });
});

describe('an execution that waits for its first worker', () => {
  it('for an hour is run', async () => {
    const message = await fixture.start();
    clock.now += 60 * minute;
    await fixture.finish(message, scriptedModel().tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', durationMs: 60 * minute });
  });

  it('for longer fails as not_started; no model is asked, and its task is released', async () => {
    const { id: taskId } = await fixture.addTask();
    const message = await fixture.start({ taskId });
    clock.now += 60 * minute + 1;
    const { tools, asked } = scriptedModel();
    expect(await fixture.finish(message, tools)).toEqual({ ExecutionsFailed: 1 });
    const failed = { status: 'failed', error: 'not_started', tokensUsed: 0, durationMs: 60 * minute + 1 };
    expect(await fixture.execution(message)).toMatchObject(failed);
    expect(await fixture.task(taskId)).toMatchObject({ status: 'assigned' });
    expect(asked).toEqual([]);
  });

  it('for longer fails as not_started even if the first worker is lost', async () => {
    const message = await fixture.start();
    clock.now += 60 * minute + 1;
    await fixture.lease(message.executionId);
    clock.now += 30 * second;
    await fixture.finish(message, scriptedModel().tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'not_started' });
  });
});

it('an execution that an earlier version leased, without the time of the first lease, is completed', async () => {
  const message = await fixture.start();
  await fixture.lease(message.executionId);
  await fixture.table.client.send(
    new UpdateCommand({
      TableName: fixture.table.name,
      Key: keys.executionHead(organization, ulidOf(message.executionId)),
      UpdateExpression: 'REMOVE firstLeasedAt',
    }),
  );
  clock.now += 30 * second;
  const takenAt = timestamp(clock());
  await fixture.finish(message, scriptedModel().tools);
  expect(await fixture.execution(message)).toMatchObject({ status: 'completed', output: 'Done.' });
  expect(await headOf(message)).toMatchObject({ firstLeasedAt: takenAt });
});

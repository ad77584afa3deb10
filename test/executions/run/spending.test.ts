import { beforeEach, describe, expect, it } from 'vitest';
import { getExecutionMetrics } from '../../../lib/agents/metrics.ts';
import { listExecutions } from '../../../lib/executions/executions.ts';
import type { ModelAnswer, Question } from '../../../lib/model/converse.ts';
import { estimatedInput } from '../../../lib/model/input-estimate.ts';
import type { ExecutionMessage } from '../../../lib/names/messages.ts';
import { readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { readTokensToday } from '../../../lib/table/executions/running.ts';
import { dynamodbError } from '../../table/fixtures/dynamodb-errors.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { faultsOf } from '../../table/tasks/oracle.ts';
import { createTestExecutions, scriptedModel, silent, type TestExecutions, text } from '../test-executions.ts';
import { turn } from '../timeline.ts';
import { conversation } from '../tool-scripts.ts';

const second = 1_000;
let fixture: TestExecutions;
beforeEach(async () => {
  fixture = await createTestExecutions();
});

const tokensToday = () => readTokensToday(fixture, fixture.organization, fixture.clock());
const headOf = ({ executionId: id }: ExecutionMessage) =>
  readExecutionHead(fixture, { organization: fixture.organization, id });

/** Expects the counter of the day, the metrics and the lists to have the same tokens, and nothing to be wrong. */
async function expectCounted(tokens: number, { listed = tokens } = {}): Promise<void> {
  const { app, organization, clock, table } = fixture;
  const metrics = await getExecutionMetrics({ ...app, clock, runningCap: 50 }, organization, { period: '7d' });
  const page = { limit: 100, offset: 0 };
  const { items } = await listExecutions(app, organization, { include: ['results'] }, page, []);
  const inLists = items.reduce((sum, { tokensUsed = 0 }) => sum + tokensUsed, 0);
  expect([await tokensToday(), metrics.tokens.total, inLists]).toEqual([tokens, tokens, listed]);
  expect(await faultsOf(table, organization)).toEqual([]);
}

describe('an answer of 900 tokens is counted', () => {
  it.each([
    ['of an agent without tools', []],
    ['of an agent with tools', ['tasks.write']],
  ])('%s, if its execution was cancelled before the answer came', async (_, capabilities) => {
    await fixture.update('writer', { capabilities });
    for (let nth = 0; nth < 5; nth++) {
      const message = await fixture.start();
      const work = async () => {
        expect(await fixture.cancel(message)).toMatchObject({ tokensUsed: 0 });
        return text('Done.', 900);
      };
      const { tools, asked } = scriptedModel({ work });
      expect(await fixture.run(message, tools)).toEqual({});
      expect(asked).toHaveLength(1);
      expect(await fixture.execution(message)).toMatchObject({ error: 'cancelled', tokensUsed: 900, stepCount: 1 });
    }
    await expectCounted(4_500);
  });

  it('if its execution is cancelled while the gates judge it, once', async () => {
    const message = await fixture.start();
    let cancelled: ReturnType<typeof fixture.cancel> | undefined;
    const gate = async (): Promise<ModelAnswer> => {
      cancelled ??= fixture.cancel(message);
      expect(await cancelled).toMatchObject({ tokensUsed: 900 });
      return { kind: 'aborted', tokens: 0 };
    };
    const { tools, asked } = scriptedModel({ work: text('Done.', 900), selfTest: gate, qaReview: gate });
    await fixture.run(message, tools);
    const [, ...gates] = asked;
    expect(gates).toHaveLength(2);
    const whole = gates.reduce((sum, question) => sum + estimatedInput(question), 0);
    expect(await fixture.execution(message)).toMatchObject({ tokensUsed: 900 + whole, tokensEstimated: true });
    await expectCounted(900 + whole);
  });

  it('if its execution is cancelled before one gate answers, with the tokens of both gates', async () => {
    const message = await fixture.start();
    const selfTest = async () => {
      await fixture.cancel(message);
      return text('VERDICT: PASS', 10);
    };
    const { tools, asked } = scriptedModel({ work: text('Done.', 900), selfTest, qaReview: silent });
    await fixture.finish(message, tools);
    const review = asked.find(({ purpose }) => purpose === 'qaReview') as Question;
    expect(review.signal.aborted).toBe(true);
    await expectCounted(910 + estimatedInput(review));
  });

  it('if its agent and execution were deleted before the answer came', async () => {
    for (let nth = 0; nth < 5; nth++) {
      await fixture.addAgent(`gone-${nth}`);
      const message = await fixture.start({}, `gone-${nth}`);
      const work = async () => {
        await fixture.deleteAgent(`gone-${nth}`);
        return text('Done.', 900);
      };
      expect(await fixture.run(message, scriptedModel({ work }).tools)).toEqual({});
      expect(await headOf(message)).toBeUndefined();
    }
    await expectCounted(4_500, { listed: 0 });
  });

  it('if its execution is deleted after its worker was lost', async () => {
    await fixture.addAgent('gone');
    const message = await fixture.start({}, 'gone');
    const { tools, asked } = scriptedModel({ work: text('Done.', 900), selfTest: silent, qaReview: silent });
    const running = fixture.run(message, tools);
    while (asked.length < 3) await turn();
    await fixture.deleteAgent('gone');
    await expectCounted(900, { listed: 0 });
    // The worker was not lost after all: the calls that it aborts are counted, too.
    await fixture.timeline.pass(4 * second);
    await running;
    await expectCounted(900 + asked.slice(1).reduce((sum, question) => sum + estimatedInput(question), 0), {
      listed: 0,
    });
  });

  it.each([
    ['of an agent without tools', []],
    ['of an agent with tools', ['tasks.write']],
  ])('%s, if its agent is deactivated before the answer came', async (_, capabilities) => {
    await fixture.addAgent('idle', { capabilities });
    const message = await fixture.start({}, 'idle');
    const work = async () => {
      await fixture.update('idle', { status: 'inactive' });
      return text('Done.', 900);
    };
    const { tools, times } = scriptedModel({ work, selfTest: text('', 0), qaReview: text('', 0) });
    await fixture.run(message, tools);
    expect([await fixture.execution(message), times('work')]).toMatchObject([
      { error: 'agent_not_active', tokensUsed: 900 },
      1,
    ]);
    await expectCounted(900);
  });

  it('once, if the tool that it requests fails for good, and another worker continues', async () => {
    await fixture.update('writer', { capabilities: ['tasks.write'] });
    const message = await fixture.start();
    const { tools } = scriptedModel({ work: conversation([[['create_task', { title: 'A' }]], 'Done.']) });
    const callTool = async () => {
      throw new Error('A bug.');
    };
    const broken = { ...tools, agentTools: { ...tools.agentTools, callTool } } as typeof tools;
    await expect(fixture.timeline.finish(fixture.run(message, broken))).rejects.toThrow('A bug.');
    expect((await headOf(message))?.progress?.tokens).toBe(10);
    await fixture.timeline.pass(30 * second);
    await fixture.finish(message, tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', tokensUsed: 31 });
    await expectCounted(31);
  });
});

it('answers whose worker fails at the end are counted once, with those of the worker that repeats them', async () => {
  let isFailing = true;
  fixture = await createTestExecutions({
    through: (table) =>
      interceptTable(table, async (send, { input }) => {
        if (isFailing && 'TransactItems' in input) throw dynamodbError('InternalServerError');
        return send();
      }),
  });
  const message = await fixture.start();
  const { tools } = scriptedModel({ work: text('Done.', 900) });
  await expect(fixture.timeline.finish(fixture.run(message, tools))).rejects.toThrow();
  expect((await headOf(message))?.progress?.tokens).toBe(911);
  isFailing = false;
  await fixture.timeline.pass(30 * second);
  await fixture.finish(message, tools);
  const ended = (await fixture.execution(message)) as object;
  expect(ended).toMatchObject({ status: 'completed', tokensUsed: 2 * 911 });
  expect(ended).not.toHaveProperty('tokensEstimated');
  await expectCounted(2 * 911);
});

it('the tokens of a call that failed temporarily are stored before the next call', async () => {
  for (const capabilities of [[], ['tasks.write']]) {
    await fixture.update('writer', { capabilities });
    const message = await fixture.start();
    const stored: unknown[] = [];
    const work = async (): Promise<ModelAnswer> => {
      stored.push((await headOf(message))?.progress?.tokens);
      return stored.length < 3 ? { kind: 'faulty', error: 'It had a fault.', tokens: 7 } : text('Done.', 900);
    };
    await fixture.finish(message, scriptedModel({ work }).tools);
    expect(stored.slice(1)).toEqual([7, 14]);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', tokensUsed: 925 });
  }
});

describe('while one gate still judges', () => {
  it('workers that are lost one after the other fail the execution, although the verdict of the other is stored', async () => {
    const message = await fixture.start();
    const stuck = scriptedModel({ work: text('Done.', 900), qaReview: () => new Promise(() => {}) });
    for (let workers = 1; workers <= 2; workers++) {
      void fixture.run(message, stuck.tools);
      while (stuck.times('qaReview') < workers || !(await headOf(message))?.progress?.verdicts.selfTest) await turn();
      for (let nth = 0; nth < 10; nth++) await turn();
      fixture.clock.now += 30 * second;
    }
    const { tools, asked } = scriptedModel();
    await fixture.finish(message, tools);
    expect(asked).toEqual([]);
    const review = stuck.asked.find(({ purpose }) => purpose === 'qaReview') as Question;
    const tokensUsed = 910 + 2 * estimatedInput(review);
    expect(await fixture.execution(message)).toMatchObject({ error: 'lost', tokensUsed, tokensEstimated: true });
  });

  it('the output, the verdict and the tokens of the other are stored, and neither is asked again after a lost worker', async () => {
    const message = await fixture.start();
    const first = scriptedModel({ work: text('Done.', 900), qaReview: () => new Promise(() => {}) });
    void fixture.run(message, first.tools);
    while ((await headOf(message))?.progress?.verdicts.selfTest === undefined) await turn();
    expect((await headOf(message))?.progress).toMatchObject({ tokens: 910, verdicts: { selfTest: 'passed' } });
    const { times, tools } = scriptedModel({ selfTest: text('VERDICT: FAIL', 10) });
    // The lost worker renews its lease no more.
    fixture.clock.now += 30 * second;
    await fixture.run(message, tools);
    expect([times('work'), times('selfTest'), times('qaReview')]).toEqual([0, 0, 1]);
    const review = first.asked.find(({ purpose }) => purpose === 'qaReview') as Question;
    expect(await fixture.execution(message)).toMatchObject({
      ...{ status: 'completed', output: 'Done.', tokensUsed: 911 + estimatedInput(review), tokensEstimated: true },
      gateReasons: { selfTest: 'VERDICT: PASS', qaReview: 'VERDICT: PASS' },
    });
  });
});

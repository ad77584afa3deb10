import { describe, expect, it } from 'vitest';
import type { Question } from '../../lib/model/converse.ts';
import { estimatedInput } from '../../lib/model/input-estimate.ts';
import type { ExecutionMessage } from '../../lib/names/messages.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { readTokensToday } from '../../lib/table/executions/running.ts';
import { faultsOf } from '../table/tasks/oracle.ts';
import { createTestExecutions, scriptedModel, silent, withoutTokens } from './test-executions.ts';
import { turn } from './timeline.ts';

const fixture = await createTestExecutions();
const { organization, timeline, clock, table } = fixture;
const second = 1_000;
const cancelled = { status: 'failed', error: 'cancelled', qualityGates: { selfTest: 'skipped', qaReview: 'skipped' } };

const runningNow = async () => (await getItem(table, keys.running(organization)))?.running;

/** Runs an execution whose model never answers the questions of a step, until it is asked. */
async function stuck(step: 'work' | 'selfTest' | 'qaReview', message?: ExecutionMessage) {
  const started = message ?? (await fixture.start());
  const questions: Question[] = [];
  const { tools, asked } = scriptedModel({
    [step]: (question: Question) => {
      questions.push(question);
      return silent(question);
    },
  });
  const ended = fixture.run(started, tools);
  while (questions.length === 0) await turn();
  return { message: started, asked, ended, questions, aborted: () => questions.every(({ signal }) => signal.aborted) };
}

describe('an execution that is cancelled', () => {
  it.each(['work', 'selfTest', 'qaReview'] as const)(
    'while a model answers its %s stops within 4 seconds, and its worker only counts the calls that it aborts',
    async (step) => {
      const { message, asked, ended, aborted, questions } = await stuck(step);
      await timeline.pass(17 * second);
      const askedBefore = asked.length;
      expect(await fixture.cancel(message)).toMatchObject({ ...cancelled, durationMs: 17 * second });
      const before = await fixture.dump();
      const tokensBefore = await readTokensToday(fixture, organization, clock());
      expect(aborted()).toBe(false);
      await timeline.pass(4 * second);
      expect(aborted()).toBe(true);
      expect(await ended).toEqual({});
      expect(timeline.waiting()).toBe(0);
      expect(asked).toHaveLength(askedBefore);
      const after = await fixture.dump();
      const abortedTokens = questions.reduce((sum, question) => sum + estimatedInput(question), 0);
      expect(withoutTokens(after)).toEqual(withoutTokens(before));
      expect(await readTokensToday(fixture, organization, clock())).toBe(tokensBefore + abortedTokens);
      expect(await fixture.execution(message)).toMatchObject({ tokensEstimated: true });
      expect(await faultsOf(table, organization)).toEqual([]);
    },
  );

  it('before a worker is free is not started by its message', async () => {
    const running = await runningNow();
    const message = await fixture.start();
    await timeline.pass(5 * second);
    expect(await fixture.cancel(message)).toMatchObject({ ...cancelled, durationMs: 5 * second, tokensUsed: 0 });
    const { tools, asked } = scriptedModel();
    expect(await fixture.finish(message, tools)).toEqual({});
    expect(asked).toEqual([]);
    expect(await runningNow()).toBe(running);
    const head = await readExecutionHead(fixture.context, { organization, id: message.executionId });
    for (const field of ['due', 'dueAt', 'claim', 'leaseUntil']) expect(head).not.toHaveProperty(field);
  });

  it('while it waits for a throttled judge keeps the tokens of its work, and loses its stored answer', async () => {
    const { tools, asked } = scriptedModel({ selfTest: { kind: 'throttled', tokens: 0 } });
    const message = await fixture.start();
    await fixture.finish(message, tools);
    const execution = await fixture.cancel(message);
    expect(execution).toMatchObject({ ...cancelled, tokensUsed: 101 });
    expect(execution).not.toHaveProperty('output');
    const items = Object.keys(await fixture.dump()).filter((key) => key.includes(message.executionId.slice(3)));
    expect(items.filter((key) => key.includes('OUT#'))).toEqual([]);
    const questions = asked.length;
    await timeline.pass(60 * second);
    for (const { message: next } of fixture.sent.splice(0)) await fixture.finish(next, tools);
    expect(asked).toHaveLength(questions);
    expect(await fixture.execution(message)).toMatchObject(cancelled);
  });

  it('and was delegated ends its delegation, and the chain of delegations is over', async () => {
    await fixture.addAgent('reader');
    const { id: taskId } = await fixture.addTask();
    const message = await fixture.start({ taskId });
    const delegated = await fixture.delegate('writer', 'reader', { taskId });
    const { ended } = await stuck('work', delegated.message);
    await expect(fixture.delegate('reader', 'writer', { taskId })).rejects.toMatchObject({ code: 'delegation_cycle' });
    expect(await fixture.cancel(delegated.message, 'reader')).toMatchObject(cancelled);
    await timeline.pass(4 * second);
    await ended;
    await fixture.delegate('reader', 'writer', { taskId });
    // The task belongs to the first execution, so it stays in progress.
    expect(await fixture.task(taskId)).toMatchObject({ status: 'in_progress', owner: message.executionId });
    await fixture.cancel(message);
    expect(await fixture.task(taskId)).toMatchObject({ status: 'assigned', assignedAgent: 'writer' });
  });

  it('after its worker was lost is not continued by another worker', async () => {
    const { id } = await fixture.leased();
    const message = { organization, executionId: id };
    await timeline.pass(31 * second);
    await fixture.cancel(message);
    const { tools, asked } = scriptedModel();
    await fixture.finish(message, tools);
    expect(asked).toEqual([]);
    expect(clock() - Date.parse((await fixture.execution(message))?.startedAt as string)).toBe(31 * second);
  });
});

describe('an execution that is run again', () => {
  it('asks the model the same as the first, with the current prompt, and moves its task again', async () => {
    await fixture.addAgent('painter');
    const { id: taskId } = await fixture.addTask({ title: 'Paint', description: 'A cow.' });
    const first = await fixture.start({ taskId, input: 'Paint it.', context: { z: 1, a: [2] } }, 'painter');
    const { tools, asked } = scriptedModel({ work: { kind: 'failed', error: 'No.', tokens: 0 } });
    await fixture.finish(first, tools);
    expect(await fixture.task(taskId)).toMatchObject({ status: 'assigned' });
    await fixture.update('painter', { systemPrompt: 'Paint well.', model: 'better.model' });
    const again = await fixture.rerun(first, 'painter');
    expect(await fixture.task(taskId)).toMatchObject({ status: 'in_progress', owner: again.executionId });
    await fixture.finish(again, tools);
    expect(asked[1]?.user).toBe(asked[0]?.user);
    expect([asked[1]?.system, asked[1]?.model]).toEqual(['Calm.\n\nPaint well.', 'better.model']);
    expect(await fixture.execution(first)).toMatchObject({ status: 'failed', error: 'No.' });
  });

  it('and was delegated names the delegating agent, and continues its chain without its delegation', async () => {
    for (const name of ['one', 'two', 'three']) await fixture.addAgent(name);
    const { message: first } = await fixture.delegate('one', 'two');
    const { tools, asked } = scriptedModel();
    await fixture.finish(first, tools);
    const again = await fixture.rerun(first, 'two');
    expect(await fixture.execution(again)).not.toHaveProperty('delegationId');
    await expect(fixture.delegate('two', 'one')).rejects.toMatchObject({ code: 'delegation_cycle' });
    await fixture.finish(again, tools);
    const [work, workAgain] = asked.filter(({ purpose }) => purpose === 'work');
    expect(work?.user).toContain('<delegated-by>\none\n');
    expect(workAgain?.user).toBe(work?.user);
  });

  it('while it runs continues, and keeps its task', async () => {
    const { id: taskId } = await fixture.addTask();
    const first = await fixture.start({ taskId });
    const again = await fixture.rerun(first);
    expect(again.executionId).not.toBe(first.executionId);
    expect(await fixture.task(taskId)).toMatchObject({ owner: first.executionId });
    for (const message of [first, again]) {
      await fixture.finish(message, scriptedModel().tools);
      expect(await fixture.execution(message)).toMatchObject({ status: 'completed', output: 'Done.' });
    }
  });
});

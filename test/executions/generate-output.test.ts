import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createAgent, deleteAgent } from '../../lib/agents/agents.ts';
import { generateOutput } from '../../lib/executions/generate-output.ts';
import type { Answer } from '../../lib/model/converse.ts';
import { keys } from '../../lib/table/keys.ts';
import { deleteTask } from '../../lib/tasks/tasks.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, timeline } = fixture;
const never = new AbortController().signal;
const fault = 'The model could not be reached, or had a fault.';
const faulty: Answer = { kind: 'faulty', error: fault, tokens: 2 };

type Says = Parameters<typeof scriptedModel>[0];

/** Generates the output of an execution with scripted models. */
async function workedOn(says?: Says, signal: AbortSignal = never) {
  const execution = await fixture.leased();
  const scripted = scriptedModel(says);
  const result = await timeline.finish(generateOutput(fixture.context, execution, scripted.tools, signal));
  return { result, ...scripted };
}

const completed = {
  status: 'completed',
  output: 'Done.',
  selfTest: 'passed',
  qaReview: 'passed',
  tokensUsed: 111,
  throttles: 0,
};
const failedWith = (error: string, tokensUsed: number) => ({
  status: 'failed',
  error,
  tokensUsed,
  throttles: 0,
  selfTest: 'skipped',
  qaReview: 'skipped',
});

describe('the work', () => {
  it('is completed by the answer of the model, and asks each gate once about it', async () => {
    const { result, asked } = await workedOn();
    expect(result).toEqual(completed);
    expect(asked.map(({ purpose }) => purpose).sort()).toEqual(['qaReview', 'selfTest', 'work']);
    for (const { purpose, user } of asked) expect(user.includes('<work>\nDone.\n</work>')).toBe(purpose !== 'work');
  });

  it('and its gates use the models of the execution and of the reviewer, each with its own prompt', async () => {
    await fixture.update('qa-reviewer', { model: 'reviewer.model' });
    const { asked } = await workedOn();
    const questions = asked.map(({ purpose, model, maxTokens }) => ({ purpose, model, maxTokens }));
    expect(questions).toEqual([
      { purpose: 'work', model: 'writer.model', maxTokens: 8_192 },
      { purpose: 'selfTest', model: 'writer.model', maxTokens: 1_024 },
      { purpose: 'qaReview', model: 'reviewer.model', maxTokens: 1_024 },
    ]);
    expect(asked[0]?.system).toBe('Calm.\n\nWrite.');
    expect(asked[2]?.system).toMatch(/^You review the work of other agents\./);
  });

  it.each<[string, Answer, string, number]>([
    [
      'fails permanently',
      { kind: 'failed', error: 'The model refused to do this.', tokens: 7 },
      'The model refused to do this.',
      7,
    ],
    ['has a fault three times', faulty, fault, 6],
  ])('of a model that %s fails; no gate is asked, and its tokens are counted', async (_, work, error, tokens) => {
    const { result, asked } = await workedOn({ work });
    expect(result).toEqual(failedWith(error, tokens));
    expect(asked.every(({ purpose }) => purpose === 'work')).toBe(true);
  });

  it('with an answer at the output limit is completed, and with one byte more it fails', async () => {
    const longest = 'ö'.repeat(500_000);
    const { result } = await workedOn({ work: text(longest, 5) });
    expect(result).toMatchObject({ status: 'completed', output: longest });
    const { result: longer, asked } = await workedOn({ work: text(`${longest}.`, 5) });
    expect(longer).toEqual(failedWith('The answer of the model was longer than it may be.', 5));
    expect(asked).toHaveLength(1);
  });

  it('with an answer of control characters fails if a response with it would be too large', async () => {
    const longest = '\u0001'.repeat(714_000);
    const { result } = await workedOn({ work: text(longest, 5) });
    expect(result).toMatchObject({ status: 'completed', output: longest });
    const { result: longer } = await workedOn({ work: text(longest + '\u0001'.repeat(1_000), 5) });
    expect(longer).toEqual(failedWith('The answer of the model was longer than it may be.', 5));
    const { result: quotes } = await workedOn({ work: text('"'.repeat(1_000_000), 5) });
    expect(quotes).toMatchObject({ status: 'completed' });
  });

  it('has no lone surrogate in its output', async () => {
    const { result } = await workedOn({ work: text('a\ud83d', 1) });
    expect(result).toMatchObject({ output: 'a\ufffd' });
  });
});

describe('a gate', () => {
  it.each<[string, Answer, 'passed' | 'failed' | 'skipped']>([
    ['passes', text('VERDICT: PASS', 3), 'passed'],
    ['fails', text('VERDICT: FAIL', 3), 'failed'],
    ['says both', text('VERDICT: FAIL\nVERDICT: PASS', 3), 'skipped'],
    ['says neither', text('Well.', 3), 'skipped'],
    ['refuses', { kind: 'failed', error: 'The model refused to do this.', tokens: 3 }, 'skipped'],
    ['has a fault', { kind: 'faulty', error: fault, tokens: 3 }, 'skipped'],
  ])('that %s is asked once, and so is the other gate', async (_, says, verdict) => {
    for (const gate of ['selfTest', 'qaReview'] as const) {
      const { result, times } = await workedOn({ [gate]: says });
      const tokensUsed = completed.tokensUsed - (gate === 'selfTest' ? 10 : 1) + 3;
      expect(result).toEqual({ ...completed, [gate]: verdict, tokensUsed });
      expect([times('selfTest'), times('qaReview')]).toEqual([1, 1]);
    }
  });

  it('is not asked after the deadline', async () => {
    const late = new AbortController();
    const answer = () => {
      late.abort();
      return text('Done.', 100);
    };
    const { result, asked } = await workedOn({ work: answer }, late.signal);
    expect(result).toEqual({ ...completed, selfTest: 'skipped', qaReview: 'skipped', tokensUsed: 100 });
    expect(asked).toHaveLength(1);
  });
});

describe('the review', () => {
  it.each(['inactive', 'draft'] as const)('is skipped if the reviewer is %s, and no model is asked', async (status) => {
    await fixture.update('qa-reviewer', { status });
    const { result, times } = await workedOn();
    await fixture.update('qa-reviewer', { status: 'active' });
    expect(result).toEqual({ ...completed, qaReview: 'skipped', tokensUsed: 110 });
    expect(times('qaReview')).toBe(0);
  });

  it('is skipped if the reviewer itself did the work', async () => {
    const execution = await fixture.leased({}, 'qa-reviewer');
    const { tools, times } = scriptedModel();
    const result = await generateOutput(fixture.context, execution, tools, never);
    expect(result).toEqual({ ...completed, qaReview: 'skipped', tokensUsed: 110 });
    expect(times('qaReview')).toBe(0);
  });

  it('is skipped if there is no reviewer', async () => {
    const execution = await fixture.leased();
    const { client, name: TableName } = fixture.context.table;
    const Key = keys.agent(organization, 'qa-reviewer');
    const { Item } = await client.send(new GetCommand({ TableName, Key }));
    await client.send(new DeleteCommand({ TableName, Key }));
    const { tools } = scriptedModel();
    const result = await generateOutput(fixture.context, execution, tools, never);
    await client.send(new PutCommand({ TableName, Item }));
    expect(result).toEqual({ ...completed, qaReview: 'skipped', tokensUsed: 110 });
  });
});

describe('the question', () => {
  it('has an empty system prompt if that of the agent is blank', async () => {
    await fixture.update('writer', { systemPrompt: ' ', soul: '' });
    const { result, asked } = await workedOn();
    await fixture.update('writer', { systemPrompt: 'Write.', soul: 'Calm.' });
    expect([result, asked[0]?.system]).toEqual([completed, '']);
  });

  it('has the current prompt of the agent, and the model of the start', async () => {
    const execution = await fixture.leased();
    await fixture.update('writer', { systemPrompt: 'Rewrite.', model: 'newer.model' });
    const { tools, asked } = scriptedModel();
    await generateOutput(fixture.context, execution, tools, never);
    await fixture.update('writer', { systemPrompt: 'Write.', model: 'writer.model' });
    expect([asked[0]?.system, asked[0]?.model]).toEqual(['Calm.\n\nRewrite.', 'writer.model']);
  });

  it('does not contain a task that was deleted after the start', async () => {
    const { id } = await fixture.addTask({ title: 'A task to be deleted' });
    const execution = await fixture.leased({ taskId: id });
    await deleteTask(fixture.app, organization, id, () => {});
    const { tools, asked } = scriptedModel();
    expect(await generateOutput(fixture.context, execution, tools, never)).toEqual(completed);
    expect(asked[0]?.user).toBe('<input>\nDo it.\n</input>');
  });
});

it('an agent that was deleted, or deleted and created again, generates nothing and asks no model', async () => {
  const kind = { category: 'qa', status: 'active' } as const;
  const fields = { name: 'passing', displayName: 'P', capabilities: [], ...kind };
  const create = () => createAgent(fixture.app, organization, { ...fields, systemPrompt: '', soul: '' }, undefined);
  await create();
  const execution = await fixture.leased({}, 'passing');
  await deleteAgent(fixture.app, organization, 'passing', () => {});
  const { tools, asked } = scriptedModel();
  expect(await generateOutput(fixture.context, execution, tools, never)).toBeUndefined();
  await create();
  expect(await generateOutput(fixture.context, execution, tools, never)).toBeUndefined();
  expect(asked).toEqual([]);
});

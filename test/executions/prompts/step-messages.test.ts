import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { ExecutionStep, MessagePart, StepMessage } from '../../../lib/contract/executions/steps.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { listSteps } from '../../../lib/executions/executions.ts';
import { selfTestPrompt } from '../../../lib/executions/prompts/execution-prompts.ts';
import type { ModelAnswer, Question, Turn } from '../../../lib/model/converse.ts';
import type { ExecutionMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem, readRange } from '../../../lib/table/access/reads.ts';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import { updateTask } from '../../../lib/tasks/tasks.ts';
import { fc } from '../../seeded.ts';
import { always } from '../../table/tasks/test-table.ts';
import { createTestExecutions, scriptedModel, text } from '../test-executions.ts';
import { conversation, type Script } from '../tool-scripts.ts';

type Fixture = Awaited<ReturnType<typeof createTestExecutions>>;

const throttled: ModelAnswer = { kind: 'throttled', tokens: 0 };

/** Returns the steps of an execution of `writer` with the messages of their calls. */
async function stepsOf({ app, organization }: Fixture, { executionId }: ExecutionMessage, name = 'writer') {
  const page = { limit: 100, offset: 0, include: ['messages' as const] };
  return (await listSteps(app, organization, name, executionId, page)).items;
}

/** Returns the items that say what the models of an execution received. */
const receivedItems = ({ table, organization }: Fixture, { executionId }: ExecutionMessage) =>
  readRange(table, { pk: keys.execution(organization, ulidOf(executionId)), from: 'RC#', to: 'RC#~' });

/** Returns the hash of the prompt of the reviewer. */
const judgeHash = async ({ table, organization }: Fixture) =>
  (await getItem(table, keys.agent(organization, 'qa-reviewer')))?.promptHash as string;

const joined = (parts: readonly MessagePart[] = []) => parts.map(({ text }) => text).join('\n\n');
const codePoints = (text: string) => [...text].length;

/** Says what differs between a text that a model got and the parts of a message, of which some can be cut. */
function differenceOf(got: string, parts: readonly MessagePart[] = []): string | undefined {
  let rest = got;
  for (const [at, { text, length }] of parts.entries()) {
    if (!rest.startsWith(text)) return `part ${at} is not at its place`;
    if (length !== undefined && Buffer.byteLength(text) <= 4092) return `part ${at} is cut too early`;
    if (Buffer.byteLength(text) > 4096) return `part ${at} is too long`;
    rest = [...rest].slice(length ?? codePoints(text)).join('');
    if (at === parts.length - 1) return rest === '' ? undefined : 'something is missing at the end';
    if (!rest.startsWith('\n\n')) return `part ${at} has another length`;
    rest = rest.slice(2);
  }
  return 'there are no parts';
}

/** Returns the turns of a question in the form of messages; a result is named by the step of its call. */
function messagesOf(turns: readonly Turn[] = []): StepMessage[] {
  let step = 0;
  return turns.flatMap((turn): StepMessage[] => {
    const model = ++step;
    if ('note' in turn) return [{ role: 'user', parts: [{ text: turn.note }] }];
    const results = turn.results.map((): StepMessage => ({ role: 'tool', step: ++step }));
    return [{ role: 'assistant', step: model }, ...results];
  });
}

type Asked = Question & { purpose: string };

/** Checks that the steps say exactly what was asked: `asked` has the last question of each step, in the order of steps. */
function expectExact(
  steps: readonly ExecutionStep[],
  asked: readonly Asked[],
  hashes: { agent: string; judge?: string },
) {
  const calls = steps.filter(({ kind }) => kind !== 'tool');
  expect(calls.map(({ kind, name }) => (kind === 'gate' ? name : 'work'))).toEqual(asked.map(({ purpose }) => purpose));
  let before: StepMessage[] = [];
  for (const [at, { purpose, user, turns, system: sent }] of asked.entries()) {
    const [system, ...messages] = calls[at]?.messages ?? [];
    if (purpose === 'selfTest') expect(joined(system?.parts)).toBe(sent);
    else expect(system).toEqual({ role: 'system', promptHash: purpose === 'work' ? hashes.agent : hashes.judge });
    // The messages of all calls so far are the messages of the question.
    const all = purpose === 'work' ? [...before, ...messages] : messages;
    expect(all[0]?.role).toBe('user');
    expect(differenceOf(user, all[0]?.parts)).toBeUndefined();
    expect(all.slice(1)).toEqual(messagesOf(turns));
    if (purpose === 'work') before = all;
  }
}

const inOrder = (asked: readonly Asked[]) =>
  asked.toSorted((one, other) => Number(one.purpose === 'qaReview') - Number(other.purpose === 'qaReview'));

describe('the messages of the steps of an execution', () => {
  it('without tools are those of its model and of both gates', async () => {
    const fixture = await createTestExecutions();
    await fixture.addAgent('lead');
    const { message } = await fixture.delegate('lead', 'writer', { instruction: 'Hi <input>.', context: { a: [1] } });
    const { tools, asked } = scriptedModel({ work: text('x'.repeat(9_000)) });
    await fixture.finishAll(message, tools);
    const steps = await stepsOf(fixture, message);
    expect(steps[0]?.messages).toEqual([
      { role: 'system', promptHash: hashOf('Write.') },
      {
        role: 'user',
        parts: [
          { text: '<delegated-by>\nlead\n</delegated-by>' },
          { text: '<context>\n{\n  "a": [\n    1\n  ]\n}\n</context>' },
          { text: '<input>\nHi &lt;input>.\n</input>' },
        ],
      },
    ]);
    expect(steps[1]?.messages?.[0]).toEqual({ role: 'system', parts: [{ text: selfTestPrompt }] });
    const [work] = steps[1]?.messages?.[1]?.parts?.slice(3) ?? [];
    expect(work).toEqual({ text: `<work>\n${'x'.repeat(4_089)}`, length: 9_015 });
    expectExact(steps, inOrder(asked), { agent: hashOf('Write.'), judge: await judgeHash(fixture) });
    expect(await receivedItems(fixture, message)).toHaveLength(1);
  });

  it('with tools have each message once: calls by their steps, and notes about messages that could not be read', async () => {
    const fixture = await createTestExecutions();
    await fixture.update('writer', { capabilities: ['tasks.write'] });
    const script: Script = [
      [
        ['create_task', { title: 'One' }],
        ['create_task', { title: 'Two' }],
      ],
      { kind: 'malformed', error: 'The model requested a tool in a form that could not be read.', tokens: 1 },
      [['list_tasks', undefined]],
      'Done.',
    ];
    const { tools, asked } = scriptedModel({ work: conversation(script) });
    const message = await fixture.start();
    await fixture.finishAll(message, tools);
    const steps = await stepsOf(fixture, message);
    expect(steps.map(({ messages }) => messages?.map(({ role, step }) => step ?? role))).toEqual([
      ['system', 'user'],
      ...[undefined, undefined],
      ['system', 1, 2, 3],
      ['system', 'user'],
      undefined,
      ['system', 5, 6],
      ...[
        ['system', 'user'],
        ['system', 'user'],
      ],
    ]);
    expect(joined(steps[4]?.messages?.[1]?.parts)).toMatch(/^Your last message could not be used\./);
    expectExact(steps, inOrder(asked), { agent: hashOf('Write.'), judge: await judgeHash(fixture) });
    expect(await receivedItems(fixture, message)).toHaveLength(1);
  });

  it('are exactly what the models got, for any input, context and task', async () => {
    const fixture = await createTestExecutions({ cap: 1_000 });
    const judge = await judgeHash(fixture);
    const written = fc
      .tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.integer({ min: 1, max: 2_000 }))
      .map(([one, times]) => `a${one}`.repeat(times).slice(0, 9_000).toWellFormed().replaceAll('\0', ''));
    const fields = fc.record(
      { input: written, context: fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), written)), description: written },
      { requiredKeys: ['input'] },
    );
    await fc.assert(
      fc.asyncProperty(fields, async ({ input, context, description }) => {
        const task = description !== undefined && (await fixture.addTask({ title: '<task>', description }));
        const given = context && { context: JSON.parse(JSON.stringify(context)) };
        const message = await fixture.start({ input, ...given, ...(task && { taskId: task.id }) });
        const { tools, asked } = scriptedModel();
        await fixture.finishAll(message, tools);
        expectExact(await stepsOf(fixture, message), inOrder(asked), { agent: hashOf('Write.'), judge });
      }),
      { numRuns: 25 },
    );
  });

  it('are those of each worker, if the task and the agent change between two workers', async () => {
    const fixture = await createTestExecutions();
    const { context, organization, timeline, clock } = fixture;
    await fixture.update('writer', { capabilities: ['tasks.write'] });
    const { id: taskId } = await fixture.addTask({ title: 'Old' });
    const message = await fixture.start({ taskId });
    const script: Script = [[['create_task', { title: 'One' }]], [['create_task', { title: 'Two' }]], 'Done.'];
    const until = clock() + 20_000;
    const asked: Question[] = [];
    const { tools } = scriptedModel({
      work: (question) => {
        if (question.turns?.length === 1 && clock() < until) return throttled;
        asked.push(question);
        return conversation(script)(question);
      },
    });
    await fixture.finish(message, tools);
    await updateTask(context, organization, taskId, { title: 'New' }, always);
    await fixture.update('writer', { systemPrompt: 'Rewrite.' });
    await timeline.pass(25_000);
    await fixture.finishAll(message, tools);

    const steps = await stepsOf(fixture, message);
    const [first, , second, , third, selfTest] = steps.map(({ messages }) => messages);
    const [old, changed] = ['Old', 'New'].map((title) => ({
      role: 'user',
      parts: [{ text: `<task>\n${title}\n</task>` }, { text: '<input>\nDo it.\n</input>' }],
    }));
    const [former, current] = ['Write.', 'Rewrite.'].map((prompt) => ({ role: 'system', promptHash: hashOf(prompt) }));
    expect(first).toEqual([former, old]);
    expect(second).toEqual([current, changed, { role: 'assistant', step: 1 }, { role: 'tool', step: 2 }]);
    expect(third).toEqual([current, { role: 'assistant', step: 3 }, { role: 'tool', step: 4 }]);
    expect(selfTest?.[1]?.parts?.slice(0, 2)).toEqual(changed?.parts);
    expect(asked.map(({ user }) => user)).toEqual([old, changed, changed].map((one) => joined(one?.parts)));
    expect(await receivedItems(fixture, message)).toHaveLength(2);
  });

  it('of a gate are those of the worker that asked it', async () => {
    const fixture = await createTestExecutions();
    const { context, organization } = fixture;
    const { id: taskId } = await fixture.addTask({ title: 'Old' });
    const message = await fixture.start({ taskId });
    await fixture.finish(message, scriptedModel({ qaReview: throttled }).tools);
    await updateTask(context, organization, taskId, { title: 'New' }, always);
    await fixture.update('qa-reviewer', { systemPrompt: 'Be kind.' });
    await fixture.timeline.pass(30_000);
    await fixture.finishAll(message, scriptedModel().tools);
    const [work, selfTest, qaReview] = (await stepsOf(fixture, message)).map(({ messages }) => messages);
    const taskIn = (messages: StepMessage[] | undefined) => messages?.[1]?.parts?.[0]?.text;
    expect([taskIn(work), taskIn(selfTest)]).toEqual(['<task>\nOld\n</task>', '<task>\nOld\n</task>']);
    expect(taskIn(qaReview)).toBe('<task>\nNew\n</task>');
    expect(qaReview?.[0]).toEqual({ role: 'system', promptHash: hashOf('Be kind.') });
  });

  it('are known while a first call with tools works, and after it is cancelled', async () => {
    const fixture = await createTestExecutions();
    await fixture.update('writer', { capabilities: ['tasks.write'] });
    const message = await fixture.start({ context: { a: 1 } });
    const seen: (ExecutionStep | undefined)[] = [];
    const { tools, asked } = scriptedModel({
      work: async () => {
        seen.push((await stepsOf(fixture, message))[0]);
        await fixture.cancel(message);
        return text('Late.');
      },
    });
    await fixture.finish(message, tools);
    seen.push((await stepsOf(fixture, message))[0]);
    for (const step of seen) expect(joined(step?.messages?.[1]?.parts)).toBe(asked[0]?.user);
    expect(seen.map((step) => step?.error)).toEqual([undefined, 'cancelled']);
  });

  it('are known of a model that failed', async () => {
    const fixture = await createTestExecutions();
    const message = await fixture.start();
    await fixture.finish(message, scriptedModel({ work: { kind: 'failed', error: 'No.', tokens: 1 } }).tools);
    const steps = await stepsOf(fixture, message);
    expect(steps).toMatchObject([{ error: 'No.', messages: [{}, { parts: [{ text: '<input>\nDo it.\n</input>' }] }] }]);
  });

  it('are absent for the gates of an execution that failed, whose output is deleted', async () => {
    const fixture = await createTestExecutions();
    const message = await fixture.start();
    const qaReview = async () => {
      await fixture.update('writer', { status: 'inactive' });
      return text('VERDICT: PASS', 1);
    };
    await fixture.finish(message, scriptedModel({ qaReview }).tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'failed', error: 'agent_not_active' });
    const steps = await stepsOf(fixture, message);
    expect(steps.map(({ name, messages }) => [name, messages !== undefined])).toEqual([
      ['writer.model', true],
      ['selfTest', false],
      ['qaReview', false],
    ]);
  });

  it('are absent for a step whose model was not asked, because the agent has lost its tools', async () => {
    const fixture = await createTestExecutions();
    await fixture.update('writer', { capabilities: ['tasks.write'] });
    const message = await fixture.start();
    const { tools } = scriptedModel({
      work: async (question) => {
        await fixture.update('writer', { capabilities: [] });
        return conversation([[['create_task', { title: 'One' }]]])(question);
      },
    });
    await fixture.finishAll(message, tools);
    const steps = await stepsOf(fixture, message);
    expect(steps.at(-1)?.error).toMatch(/^The agent has lost its tools/);
    expect(steps.map(({ messages }) => messages !== undefined)).toEqual([true, false, false]);
  });

  it('are absent for an execution of an earlier version', async () => {
    const fixture = await createTestExecutions();
    await fixture.update('writer', { capabilities: ['tasks.write'] });
    const message = await fixture.start();
    await fixture.finishAll(message, scriptedModel().tools);
    expect((await stepsOf(fixture, message)).filter(({ messages }) => messages)).toHaveLength(3);
    const { table, organization } = fixture;
    const pk = keys.execution(organization, ulidOf(message.executionId));
    for (const item of await readRange(table, { pk })) {
      const { pk, sk } = item;
      // Earlier versions have stored all but what is received.
      const Item = JSON.parse(JSON.stringify(item, (name, value) => (name === 'received' ? undefined : value)));
      if ((sk as string).startsWith('RC#'))
        await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
      else await table.client.send(new PutCommand({ TableName: table.name, Item }));
    }
    const steps = await stepsOf(fixture, message);
    expect(steps).toHaveLength(3);
    for (const step of steps) expect(step).not.toHaveProperty('messages');
  });
});

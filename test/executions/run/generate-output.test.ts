import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { assignSkill, deleteAgent } from '../../../lib/agents/agents.ts';
import { generateOutput, type RunResources } from '../../../lib/executions/run/generate-output.ts';
import type { ModelAnswer } from '../../../lib/model/converse.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import type { RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import { deleteTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { createTestExecutions, scriptedModel, text } from '../test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, timeline } = fixture;
const refused = 'The model refused to do this.';
const fault = 'The model could not be reached, or had a fault.';
const tooLong = 'The answer of the model was longer than it may be.';

/** Generates the output of an execution with scripted models. */
async function generate(
  says?: Parameters<typeof scriptedModel>[0],
  execution?: RunningExecution,
  catalogue: RunResources['catalogue'] = [],
) {
  const scripted = scriptedModel(says);
  const leased = execution ?? (await fixture.leased());
  const { signal } = new AbortController();
  const generated = await timeline.finish(
    generateOutput(fixture.context, leased, { ...scripted.tools, catalogue }, signal),
  );
  if (generated && 'timings' in generated) delete generated.timings;
  // The output is stored before the gates are asked.
  delete generated?.execution;
  return { result: generated, ...scripted };
}

const completed = {
  ...{ status: 'completed', output: 'Done.', selfTest: 'passed', qaReview: 'passed' },
  ...{ tokensUsed: 111, throttles: 0, gateReasons: { selfTest: 'VERDICT: PASS', qaReview: 'VERDICT: PASS' } },
};
const unreviewed = (why: string) => ({
  ...{ ...completed, qaReview: 'skipped', tokensUsed: 110 },
  gateReasons: { selfTest: 'VERDICT: PASS', qaReview: `No verdict: ${why}` },
});
const failedWith = (error: string, tokensUsed: number) => ({
  ...{ status: 'failed', error, tokensUsed, throttles: 0, selfTest: 'skipped', qaReview: 'skipped' },
});

describe('the work', () => {
  it('and its gates use the models of the execution and of the reviewer, each with its own prompt', async () => {
    await fixture.update('qa-reviewer', { model: 'reviewer.model' });
    const { result, asked } = await generate();
    expect(result).toEqual(completed);
    const questions = asked.map(({ purpose, model, maxTokens }) => ({ purpose, model, maxTokens }));
    expect(questions).toEqual([
      { purpose: 'work', model: 'writer.model', maxTokens: 8_192 },
      { purpose: 'selfTest', model: 'writer.model', maxTokens: 1_024 },
      { purpose: 'qaReview', model: 'reviewer.model', maxTokens: 1_024 },
    ]);
    for (const { purpose, user } of asked) expect(user.includes('<work>\nDone.\n</work>')).toBe(purpose !== 'work');
    expect(asked[0]?.system).toBe('Calm.\n\nWrite.');
    expect(asked[2]?.system).toMatch(/^You review the work of other agents\./);
  });

  it.each<[string, ModelAnswer, string, number]>([
    ['fails permanently', { kind: 'failed', error: refused, tokens: 7 }, refused, 7],
    ['has a fault three times', { kind: 'faulty', error: fault, tokens: 2 }, fault, 6],
    ['is longer than the output limit', text(`${'ö'.repeat(500_000)}.`, 5), tooLong, 5],
    ['is too large as JSON', text('\u0001'.repeat(715_000), 5), tooLong, 5],
  ])('of a model that %s fails; no gate is asked, and its tokens are counted', async (_, work, error, tokens) => {
    const { result, asked } = await generate({ work });
    expect(result).toEqual(failedWith(error, tokens));
    expect(asked.every(({ purpose }) => purpose === 'work')).toBe(true);
  });

  it.each([
    ['at the output limit', 'ö'.repeat(500_000)],
    ['of quotes at the output limit', '"'.repeat(1_000_000)],
    ['of control characters that fits as JSON', '\u0001'.repeat(714_000)],
    ['with a lone surrogate, which is replaced,', 'a\ud83d'],
  ])('with an answer %s is completed', async (_, answer) => {
    const output = answer.replace('\ud83d', '\ufffd');
    expect((await generate({ work: text(answer, 5) })).result).toMatchObject({ status: 'completed', output });
  });
});

it.each<[string, ModelAnswer, 'passed' | 'failed' | 'skipped']>([
  ['passes', text('VERDICT: PASS', 3), 'passed'],
  ['fails', text('VERDICT: FAIL', 3), 'failed'],
  ['gives no verdict', text('Well.', 3), 'skipped'],
  ['refuses', { kind: 'failed', error: refused, tokens: 3 }, 'skipped'],
  ['has a fault', { kind: 'faulty', error: fault, tokens: 3 }, 'skipped'],
])('a gate that %s is asked once, and so is the other gate', async (_, says, verdict) => {
  for (const gate of ['selfTest', 'qaReview'] as const) {
    const { result, times } = await generate({ [gate]: says });
    const tokensUsed = completed.tokensUsed - (gate === 'selfTest' ? 10 : 1) + 3;
    const why = says.kind === 'text' ? says.text : `No verdict: ${'error' in says ? says.error : ''}`;
    const gateReasons = { ...completed.gateReasons, [gate]: why };
    expect(result).toEqual({ ...completed, [gate]: verdict, tokensUsed, gateReasons });
    expect([times('selfTest'), times('qaReview')]).toEqual([1, 1]);
  }
});

describe('a gate whose answer is cut off', () => {
  const cut: ModelAnswer = { kind: 'failed', error: tooLong, isCutOff: true, tokens: 3 };

  it('is asked once more with the limit of work', async () => {
    const { result, asked } = await generate({
      selfTest: ({ maxTokens }) => (maxTokens <= 1_024 ? cut : text('VERDICT: PASS', 4)),
    });
    const tokensUsed = completed.tokensUsed - 10 + 3 + 4;
    expect(result).toEqual({ ...completed, tokensUsed });
    const limits = asked.flatMap(({ purpose, maxTokens }) => (purpose === 'selfTest' ? [maxTokens] : []));
    expect(limits).toEqual([1_024, 8_192]);
  });

  it('is skipped if that answer is cut off too, and says why', async () => {
    const { result, times } = await generate({ qaReview: cut });
    const gateReasons = { ...completed.gateReasons, qaReview: `No verdict: ${tooLong}` };
    expect(result).toMatchObject({ status: 'completed', qaReview: 'skipped', gateReasons });
    expect(times('qaReview')).toBe(2);
  });
});

it('a gate gives its reasons, of which the first 2,000 characters are kept', async () => {
  const { result } = await generate({ qaReview: text(` ${'😀'.repeat(2_000)}!\nVERDICT: FAIL`, 1) });
  expect(result).toMatchObject({ qaReview: 'failed', gateReasons: { qaReview: '😀'.repeat(2_000) } });
});

describe('the review is skipped, and its model is not asked,', () => {
  async function expectUnreviewed(why: string, execution?: RunningExecution): Promise<void> {
    const { result, times } = await generate({}, execution);
    expect([result, times('qaReview')]).toEqual([unreviewed(why), 0]);
  }

  it.each(['inactive', 'draft'] as const)('if the reviewer is %s', async (status) => {
    await fixture.update('qa-reviewer', { status });
    await expectUnreviewed('There is no active agent qa-reviewer.');
    await fixture.update('qa-reviewer', { status: 'active' });
  });

  it('if the reviewer itself did the work', async () => {
    await expectUnreviewed('qa-reviewer does not judge its own work.', await fixture.leased({}, 'qa-reviewer'));
  });

  it('if there is no reviewer', async () => {
    const { client, name: TableName } = fixture.context.table;
    const Key = keys.agent(organization, 'qa-reviewer');
    const { Item } = await client.send(new GetCommand({ TableName, Key }));
    await client.send(new DeleteCommand({ TableName, Key }));
    await expectUnreviewed('There is no active agent qa-reviewer.');
    await client.send(new PutCommand({ TableName, Item }));
  });
});

describe('the question', () => {
  it('has texts of callers in its user prompt only, and the same system for every execution of a version', async () => {
    const catalogue = ['draw', 'read', 'write'].map((name) => ({
      ...{ id: `sk_${name}`, name, description: name, body: `How to ${name}. 🧭` },
    }));
    await fixture.addAgent('skilled');
    // Not in the order of their names, and two of them in the same millisecond.
    for (const id of ['sk_write', 'sk_read', 'sk_draw']) {
      await assignSkill(fixture.app, organization, 'skilled', id, catalogue, undefined, []);
      fixture.clock.now += id === 'sk_write' ? 1 : 0;
    }
    const skills = ['write', 'draw', 'read'].map((name) => `# Skill: ${name}\n\nHow to ${name}. 🧭`).join('\n\n');
    const { id: taskId } = await fixture.addTask({ title: 'THE-TITLE', description: 'THE-DESCRIPTION' });
    const fields = { input: 'THE-INPUT', taskId, context: { key: 'THE-CONTEXT' } };
    for (const given of [fields, { input: 'THE-INPUT' }]) {
      const { asked } = await generate({}, await fixture.leased(given, 'skilled'), catalogue);
      expect(asked[0]?.system).toBe(`Calm.\n\nWrite.\n\n${skills}`);
      const words = given === fields ? ['INPUT', 'TITLE', 'DESCRIPTION', 'CONTEXT'] : ['INPUT'];
      for (const word of words) expect(asked[0]?.user).toContain(`THE-${word}`);
      for (const { system } of asked) expect(system).not.toContain('THE-');
    }
  });

  it('has the current prompt of the agent, and the model of the start', async () => {
    await fixture.addAgent('changing');
    const execution = await fixture.leased({}, 'changing');
    await fixture.update('changing', { systemPrompt: 'Rewrite.', model: 'newer.model' });
    const { asked } = await generate({}, execution);
    expect([asked[0]?.system, asked[0]?.model]).toEqual(['Calm.\n\nRewrite.', 'writer.model']);
  });

  describe('on a task with dependencies', () => {
    /** Adds a task that is done, after an execution with this output if one is given; returns its id. */
    async function addDone(title: string, output?: string): Promise<string> {
      const { id } = await fixture.addTask({ title, ...(output === undefined && { status: 'done' }) });
      if (output === undefined) return id;
      fixture.clock.now += 1_000;
      await fixture.finish(await fixture.start({ taskId: id }), scriptedModel({ work: text(output) }).tools);
      await updateTask(fixture.app, organization, id, { status: 'done' }, () => {});
      return id;
    }
    const resultsIn = (user = '') =>
      [...user.matchAll(/^<dependency-result>\nTitle: (.*)\nStatus: done(?:\n\n(.*))?\n</gm)].map(
        ([, title, output]) => [title, output],
      );

    it('has their titles and outputs, for the work and for both gates', async () => {
      // Not in the order of their ends.
      const dependsOn = [await addDone('By hand'), await addDone('Old', 'One.'), await addDone('New', 'Two.')];
      const { id: taskId } = await fixture.addTask({ dependsOn });
      const { asked } = await generate({}, await fixture.leased({ taskId }));
      expect(asked.map(({ purpose }) => purpose)).toEqual(['work', 'selfTest', 'qaReview']);
      for (const { user } of asked)
        expect(resultsIn(user)).toEqual([
          ['New', 'Two.'],
          ['Old', 'One.'],
          ['By hand', undefined],
        ]);
    });

    it('has only the title of one whose execution was deleted, and nothing of one that is not done any more', async () => {
      await fixture.addAgent('leaving');
      const { id } = await fixture.addTask({ title: 'Deleted' });
      await fixture.finish(await fixture.start({ taskId: id }, 'leaving'), scriptedModel().tools);
      await updateTask(fixture.app, organization, id, { status: 'done' }, () => {});
      await fixture.deleteAgent('leaving');
      const reopened = await addDone('Reopened', 'Done.');
      const { id: taskId } = await fixture.addTask({ dependsOn: [id, reopened] });
      const execution = await fixture.leased({ taskId });
      await updateTask(fixture.app, organization, reopened, { status: 'backlog' }, () => {});
      const { asked } = await generate({}, execution);
      expect(resultsIn(asked[0]?.user)).toEqual([['Deleted', undefined]]);
    });

    it('has nothing of them if the agent does not get results', async () => {
      await fixture.addAgent('alone', { dependencyResults: false });
      const { id: taskId } = await fixture.addTask({ title: 'Own', dependsOn: [await addDone('Other', 'Two.')] });
      const { asked } = await generate({}, await fixture.leased({ taskId }, 'alone'));
      expect(asked[0]?.user).toBe('<task>\nOwn\n</task>\n\n<input>\nDo it.\n</input>');
    });
  });

  it('does not contain a task that was deleted after the start', async () => {
    const { id } = await fixture.addTask({ title: 'A task to be deleted' });
    const execution = await fixture.leased({ taskId: id });
    await deleteTask(fixture.app, organization, id, () => {});
    const { result, asked } = await generate({}, execution);
    expect([result, asked[0]?.user]).toEqual([completed, '<input>\nDo it.\n</input>']);
  });
});

it('an agent that was deleted, or deleted and created again, generates nothing and asks no model', async () => {
  await fixture.addAgent('passing');
  const execution = await fixture.leased({}, 'passing');
  await deleteAgent(fixture.app, organization, 'passing', () => {});
  expect(await generate({}, execution)).toMatchObject({ result: undefined, asked: [] });
  await fixture.addAgent('passing');
  expect(await generate({}, execution)).toMatchObject({ result: undefined, asked: [] });
});

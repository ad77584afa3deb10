import { describe, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import { patchedAgent } from '../../lib/agents/decisions.ts';
import type { AgentPatch, NewAgent } from '../../lib/contract/agents/agents.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import { runDuePurges } from '../../lib/executions/purges.ts';
import type { ModelAnswer, Question } from '../../lib/model/converse.ts';
import { estimatedInput } from '../../lib/model/input-estimate.ts';
import type { ExecutionMessage } from '../../lib/names/messages.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import { changeAgent, readAgent, removeAgent } from '../../lib/table/agents/agents.ts';
import { readSteps } from '../../lib/table/executions/steps.ts';
import { listTasks } from '../../lib/tasks/tasks.ts';
import { always } from '../table/tasks/test-table.ts';
import { createTestExecutions, scriptedModel, silent, text } from './test-executions.ts';
import { turn } from './timeline.ts';
import { lastResults, requesting } from './tool-scripts.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, context, timeline } = fixture;
const second = 1_000;
const allTools = ['tasks.read', 'tasks.write', 'delegate'];
const stopped = {
  ...{ status: 'failed', error: 'agent_not_active' },
  qualityGates: { selfTest: 'skipped', qaReview: 'skipped' },
};

let agents = 0;

/** Adds an agent with tools; returns its name. */
async function addAgent(fields: Partial<NewAgent> = {}): Promise<string> {
  const name = `agent-${agents++}`;
  await fixture.addAgent(name, { capabilities: allTools, ...fields });
  return name;
}

const update = (name: string, patch: AgentPatch) => fixture.update(name, patch as never);
const remove = (name: string) => deleteAgent(fixture.app, organization, name, always);

/** Changes an agent without the marks, like a request whose process dies after the change. */
async function updateUnmarked(name: string, patch: AgentPatch): Promise<void> {
  const before = await requireAgent(name);
  await changeAgent(
    fixture.app,
    organization,
    before,
    patchedAgent(before, patch as never, timestamp(fixture.clock())),
  );
}

/** Deletes an agent without the marks. */
async function removeUnmarked(name: string): Promise<void> {
  const agent = await requireAgent(name);
  const head = { ...agent, promptHash: '', soulHash: '' };
  await removeAgent(fixture.app, organization, head, timestamp(fixture.clock()));
}

async function requireAgent(name: string) {
  const agent = await readAgent(fixture.app, organization, name);
  if (!agent) throw new Error(`There is no agent ${name}.`);
  return agent;
}

const countTasks = async () => (await listTasks(fixture.app, organization, {}, { limit: 1, offset: 0 })).total;

/** A model that creates a task with each answer. Before its third answer something happens. */
function creatingForever(meanwhile: () => Promise<unknown>) {
  return async ({ turns = [] }: Question): Promise<ModelAnswer> => {
    if (turns.length === 2) await meanwhile();
    return requesting([['create_task', { title: `Task ${turns.length}` }]], turns.length);
  };
}

/** Runs an execution of an agent without letting time pass, so its worker never looks at the agent by itself. */
async function run(name: string, work: (question: Question) => ModelAnswer | Promise<ModelAnswer>, taskId?: string) {
  const message = await fixture.start({ ...(taskId && { taskId }) }, name);
  const { tools, asked } = scriptedModel({ work });
  await fixture.run(message, tools);
  return { message, asked, execution: await fixture.execution(message) };
}

describe('the execution of an agent that is changed while it runs', () => {
  it.each<[string, AgentPatch]>([
    ['inactive', { status: 'inactive' }],
    ['a draft', { status: 'draft' }],
    ['inactive without capabilities', { status: 'inactive', capabilities: [] }],
  ])('to %s makes no change after the response, fails, and returns its task', async (_, patch) => {
    const name = await addAgent();
    const { id: taskId } = await fixture.addTask();
    let before = 0;
    const change = async () => {
      await update(name, patch);
      before = await countTasks();
    };
    const { execution, asked } = await run(name, creatingForever(change), taskId);
    expect(await countTasks()).toBe(before);
    expect(execution).toMatchObject({ ...stopped, tokensUsed: 30 });
    expect(asked).toHaveLength(3);
    expect(await fixture.task(taskId)).toMatchObject({ status: 'assigned', assignedAgent: name });
  });

  it('to fewer tools goes on with the tools that it still has', async () => {
    const name = await addAgent();
    const { execution, message, asked } = await run(name, async (question) => {
      const { turns = [] } = question;
      if (turns.length === 2) return text('Seen.', 10);
      if (turns.length === 1) return requesting([['list_tasks', {}]], 1);
      await update(name, { capabilities: ['tasks.read'] });
      return requesting([['create_task', { title: 'Too late' }]]);
    });
    expect(execution).toMatchObject({ status: 'completed', output: 'Seen.', tokensUsed: 41 });
    expect(lastResults(asked[1] as Question)).toMatchObject([{ error: { code: 'not_found' } }]);
    expect(asked[1]?.tools?.map((tool) => tool.name)).toEqual(['list_tasks', 'get_task']);
    const steps = await readSteps(context, { organization, id: message.executionId });
    expect(steps.map(({ kind, name: called }) => [kind, called]).slice(1, 4)).toEqual([
      ['tool', 'create_task'],
      ['model', 'writer.model'],
      ['tool', 'list_tasks'],
    ]);
  });

  it('to an agent that may not delegate starts no other execution', async () => {
    const [name, other] = [await addAgent(), await addAgent()];
    const { asked } = await run(name, async ({ turns = [] }) => {
      if (turns.length === 1) return text('Alone.');
      await update(name, { capabilities: ['tasks.read'] });
      return requesting([['delegate_task', { toAgent: other, instruction: 'Do it.' }]]);
    });
    expect(lastResults(asked[1] as Question)).toMatchObject([{ error: { code: 'not_found' } }]);
  });

  it.each(['selfTest', 'qaReview'] as const)(
    'to inactive during its %s fails, and its output is lost',
    async (gate) => {
      const name = await addAgent({ capabilities: [] });
      const message = await fixture.start({}, name);
      const { tools } = scriptedModel({
        [gate]: async () => {
          await update(name, { status: 'inactive' });
          return text('VERDICT: PASS', 10);
        },
      });
      expect(await fixture.run(message, tools)).toEqual({ ExecutionsFailed: 1 });
      const execution = await fixture.execution(message);
      expect(execution).toMatchObject(stopped);
      expect(execution?.tokensUsed).toBeGreaterThan(100);
      expect(execution).not.toHaveProperty('output');
    },
  );

  it('to inactive and back before its worker notices goes on', async () => {
    const name = await addAgent();
    const { execution } = await run(name, async ({ turns = [] }) => {
      if (turns.length === 1) return text('Done.', 10);
      await update(name, { status: 'inactive' });
      await update(name, { status: 'active' });
      return requesting([['create_task', { title: 'Allowed' }]]);
    });
    expect(execution).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('in its prompt alone is not marked', async () => {
    const message = await fixture.start();
    await update('writer', { systemPrompt: 'Write well.', capabilities: ['a label'] });
    await update('writer', { capabilities: [] });
    expect(
      await getItem(fixture.table, keys.executionHead(organization, message.executionId.slice(3))),
    ).not.toHaveProperty('agentMark');
  });
});

describe('the execution of an agent that is deleted while it runs', () => {
  it('makes no change after the response, and stops without a write', async () => {
    const name = await addAgent();
    let before = {};
    const deleted = async () => {
      await remove(name);
      before = await fixture.dump();
    };
    const message = await fixture.start({}, name);
    const tasks = await countTasks();
    const { tools, asked } = scriptedModel({ work: creatingForever(deleted) });
    expect(await fixture.run(message, tools)).toEqual({});
    expect([await countTasks(), asked.length]).toEqual([tasks + 2, 3]);
    const changed = Object.keys(await fixture.dump()).filter((key) => !(key in before));
    // The paid answer, and the start of the call that was not carried out. The purge deletes them.
    expect(changed.every((key) => key.includes(message.executionId.slice(3)))).toBe(true);
    await runDuePurges(context, { until: fixture.clock(), hasTime: () => true });
    expect(Object.keys(await fixture.dump()).filter((key) => key.includes(message.executionId.slice(3)))).toEqual([]);
  });

  it('does not act in the name of a new agent with its name, also with tools', async () => {
    const name = await addAgent();
    let [id, before] = ['', {}];
    const { asked } = await run(name, async () => {
      await remove(name);
      await fixture.addAgent(name, { capabilities: allTools });
      ({ id } = await fixture.addTask({ assignedAgent: name, title: 'Of the new agent' }));
      before = (await fixture.task(id)) ?? {};
      return requesting([['update_task', { id, title: 'Changed by the old one' }]]);
    });
    expect(await fixture.task(id)).toEqual(before);
    expect(asked).toHaveLength(1);
  });

  it('of an agent without tools stores no output', async () => {
    const name = await addAgent({ capabilities: [] });
    const message = await fixture.start({}, name);
    const { tools, times } = scriptedModel({
      work: async () => {
        await remove(name);
        return text('Done.', 100);
      },
    });
    expect(await fixture.run(message, tools)).toEqual({});
    expect(times('work')).toBe(1);
    expect(await fixture.execution(message)).toMatchObject({ status: 'running' });
  });
});

describe('a change whose request dies before the marks', () => {
  /** Runs an execution whose model never answers its second question; returns when it asks that. */
  async function waiting(name: string, then: () => ModelAnswer | Promise<ModelAnswer> = () => text('Late.')) {
    const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
    const message = await fixture.start({}, name);
    const { tools, asked } = scriptedModel({
      work: async (question) => {
        if (question.turns?.length !== 1) return question.turns?.length ? then() : requesting([['list_tasks', {}]]);
        ({ signal } = question);
        ask();
        return Promise.race([silent(question), goesOn.then(() => requesting([['create_task', { title: 'Late' }]], 1))]);
      },
    });
    const ended = fixture.run(message, tools);
    await isAsked;
    await turn();
    return { message, ended, asked, goOn, isAborted: () => signal?.aborted };
  }

  it('to inactive ends its execution within 4 seconds', async () => {
    const name = await addAgent();
    const { message, ended, asked, isAborted } = await waiting(name);
    await updateUnmarked(name, { status: 'inactive' });
    await timeline.pass(4 * second);
    expect(isAborted()).toBe(true);
    await ended;
    const tokensUsed = 10 + estimatedInput(asked[1] as Question);
    expect(await fixture.execution(message)).toMatchObject({ ...stopped, tokensUsed, tokensEstimated: true });
  });

  it('to fewer tools is known to the next call of a tool after 4 seconds', async () => {
    const name = await addAgent();
    const before = await countTasks();
    const { message, ended, goOn } = await waiting(name);
    await updateUnmarked(name, { capabilities: ['tasks.read'] });
    await timeline.pass(4 * second);
    goOn();
    await ended;
    expect(await countTasks()).toBe(before);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed', output: 'Late.' });
  });

  it.each([
    ['and another agent gets its name', true],
    ['', false],
  ])('deletes the agent %s, stops its worker within 4 seconds', async (_, again) => {
    const name = await addAgent();
    const { ended, isAborted } = await waiting(name);
    await removeUnmarked(name);
    if (again) await fixture.addAgent(name, { capabilities: allTools });
    await timeline.pass(4 * second);
    expect(isAborted()).toBe(true);
    expect(await ended).toEqual({});
  });
});

describe('an execution that no worker has when its agent is deactivated', () => {
  const expectStopped = async (message: ExecutionMessage, tokensUsed: number) => {
    const { tools, asked } = scriptedModel();
    expect(await fixture.finish(message, tools)).toEqual({ ExecutionsFailed: 1 });
    expect(asked).toEqual([]);
    expect(await fixture.execution(message)).toMatchObject({ ...stopped, tokensUsed });
  };

  it('fails when its first worker takes it', async () => {
    const name = await addAgent({ capabilities: [] });
    const message = await fixture.start({}, name);
    await update(name, { status: 'inactive' });
    await expectStopped(message, 0);
  });

  it('fails when the next worker takes it after a model has throttled, with the tokens of the others', async () => {
    const name = await addAgent({ capabilities: [] });
    const message = await fixture.start({}, name);
    await fixture.finish(message, scriptedModel({ selfTest: { kind: 'throttled', tokens: 0 } }).tools);
    await update(name, { status: 'inactive' });
    await timeline.pass(60 * second);
    await expectStopped(message, 101);
  });

  it('fails after its worker was lost, with an estimate of the call that the worker had begun', async () => {
    const name = await addAgent({ capabilities: [] });
    const message = await fixture.start({}, name);
    const { tools, asked } = scriptedModel({ work: () => new Promise(() => {}) });
    void fixture.run(message, tools);
    while (asked.length < 1) await turn();
    await update(name, { status: 'inactive' });
    // The lost worker renews its lease no more.
    fixture.clock.now += 30 * second;
    await expectStopped(message, estimatedInput(asked[0] as Question));
  });

  it('and was delegated fails, and the execution that delegated it goes on', async () => {
    const [from, to] = [await addAgent(), await addAgent()];
    const message = await fixture.start({}, from);
    const delegated = await fixture.delegate(from, to);
    await update(to, { status: 'inactive' });
    await expectStopped(delegated.message, 0);
    await fixture.finish(message, scriptedModel().tools);
    expect(await fixture.execution(message)).toMatchObject({ status: 'completed' });
  });
});

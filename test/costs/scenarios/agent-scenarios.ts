import { processContext } from '../../../lib/context/context.ts';
import type { ExecutionStarted } from '../../../lib/contract/executions/executions.ts';
import { runExecution } from '../../../lib/executions/run/run-execution.ts';
import type { Model } from '../../../lib/model/converse.ts';
import { type Asked, type TestOrganization, text } from '../test-organization.ts';

const params = { name: 'writer' };
const writer = { ...params, displayName: 'Writer', category: 'business', description: text, systemPrompt: text };
const instruction = { input: text };

/** A model that completes the execution, and fails its review. */
const faulty: Model = async ({ user }) => ({
  kind: 'text',
  text: user.includes('Done.') ? 'VERDICT: FAIL' : 'Done.',
  tokens: 1,
});

const createAgent = ({ ask, once }: TestOrganization, fields: Partial<typeof writer> = {}) =>
  once(`agent ${fields.name}`, () => ask('createAgent', { body: { ...writer, ...fields } }));

export const newAgent = async (caller: TestOrganization, name = params.name): Promise<{ params: { name: string } }> => {
  await createAgent(caller, { name });
  return { params: { name } };
};
const changing = (body: object) => async (caller: TestOrganization) => ({ ...(await newAgent(caller)), body });

/** Starts executions of an agent, ends each unless `ends` is false, and returns the id of the last one. */
export async function executed(
  caller: TestOrganization,
  count: number,
  { name = params.name, ends = true } = {},
): Promise<string> {
  const { ask, organization } = caller;
  let last = '';
  for (let nth = 0; nth < count; nth++) {
    const asked = { params: { name }, body: instruction };
    ({ executionId: last } = await ask<ExecutionStarted>('executeAgent', asked));
    if (ends)
      await runExecution(processContext(), { organization, executionId: last }, { model: faulty, catalogue: [] });
  }
  return last;
}

const withExecutions =
  (count: number, of: { name?: string; ends?: boolean } = {}) =>
  async (caller: TestOrganization) => {
    const asked = await newAgent(caller, of.name);
    await caller.once('executions', () => executed(caller, count, of));
    return asked;
  };

export const onTask = (fields: object) => async (caller: TestOrganization) => {
  const asked = await newAgent(caller);
  const { id: taskId } = await caller.ask('createTask', { body: { title: 'A task', description: text, ...fields } });
  return { ...asked, body: { ...instruction, taskId } };
};

const running = withExecutions(25, { ends: false });

/** Starts 20 executions, ten of them on a task of their own, and asks for the page with what they are about. */
const withSubjects = async (caller: TestOrganization) => {
  const asked = await newAgent(caller, 'subject');
  await caller.once('subjects', async () => {
    for (let nth = 0; nth < 20; nth++) {
      const { id: taskId } = await caller.ask('createTask', { body: { title: 'A task', description: text } });
      await caller.ask('executeAgent', { ...asked, body: { ...instruction, ...(nth % 2 === 0 && { taskId }) } });
    }
  });
  return { ...asked, query: 'include=results,subject' };
};

/** Ends an execution, and returns what names it in a path. */
const ended = async (caller: TestOrganization) => {
  await newAgent(caller);
  return { params: { ...params, id: await executed(caller, 1) } };
};

/** For each budget of an agent's row: creates the items in the table, and returns the measured request. */
export const agentScenarios = {
  listAgents: {
    '20 of 25': async (caller) => {
      await Promise.all(Array.from({ length: 23 }, (_, nth) => createAgent(caller, { name: `writer-${10 + nth}` })));
      return {};
    },
  },
  createAgent: {
    'with the default model': async () => ({ body: writer }),
    'with a model': async () => ({ body: { ...writer, name: 'reader', model: 'some.model' } }),
  },
  getAgent: { 'with a prompt': newAgent },
  updateAgent: {
    'its name': changing({ displayName: 'Another' }),
    'its prompt': changing({ systemPrompt: `${text}Another.` }),
    nothing: changing({ category: writer.category }),
    'to inactive, with three running executions': async (caller) => {
      const asked = await newAgent(caller, 'stopped');
      await executed(caller, 3, { name: 'stopped', ends: false });
      return { ...asked, body: { status: 'inactive' } };
    },
  },
  deleteAgent: {
    'without executions': (caller) => newAgent(caller, 'idle'),
    'with an execution': withExecutions(1, { name: 'busy' }),
  },
  listSkills: {
    two: async (caller) => {
      await newAgent(caller);
      for (const skillId of ['sk_code-review', 'sk_release-notes'])
        await caller.ask('assignSkill', { params, body: { skillId } });
      return { params };
    },
  },
  assignSkill: { one: changing({ skillId: 'sk_code-review' }) },
  unassignSkill: {
    one: async (caller) => {
      await newAgent(caller);
      await caller.ask('assignSkill', { params, body: { skillId: 'sk_code-review' } });
      return { params: { ...params, skillId: 'sk_code-review' } };
    },
  },
  updateSoul: { another: changing({ soul: text }) },
  executeAgent: {
    'without a task': changing(instruction),
    'with a task': onTask({ assignedAgent: 'writer' }),
    'with a task of a project': onTask({ assignedAgent: 'writer', projectId: 'proj_one' }),
  },
  delegateTask: {
    'without a task': async (caller) => {
      await newAgent(caller, 'reader');
      return { ...(await newAgent(caller)), body: { toAgent: 'reader', instruction: text } };
    },
    'with a task': async (caller) => {
      await newAgent(caller, 'reader');
      const { body } = await onTask({ assignedAgent: 'writer' })(caller);
      return { params, body: { toAgent: 'reader', instruction: text, taskId: body.taskId } };
    },
  },
  listExecutions: {
    '20 of 25': running,
    'with a status': async (caller) => ({ ...(await running(caller)), query: 'status=running' }),
    'with the subjects of 20, half of them on a task': withSubjects,
  },
  listAgentExecutions: { '20 of 25': running, 'with the subjects of 20, half of them on a task': withSubjects },
  getExecution: { ended },
  listSteps: {
    'of an agent without tools': ended,
    'with what its models received': async (caller) => ({ ...(await ended(caller)), query: 'include=messages' }),
  },
  getMetrics: {
    'of 30 days, of three executions': withExecutions(3),
    'of 30 days, of three executions, with a daily series': async (caller) => ({
      ...(await withExecutions(3)(caller)),
      query: 'series=daily',
    }),
  },
  getExecutionMetrics: {
    'of 30 days, of three executions': async (caller) => {
      await withExecutions(3)(caller);
      return {};
    },
  },
  selfImproveAgent: { 'from two executions, adopted': withExecutions(2) },
  listSkillCatalogue: { all: async () => ({}) },
  getMe: { any: async () => ({}) },
} satisfies Record<string, Record<string, (caller: TestOrganization) => Promise<Asked>>>;

import { processContext } from '../../lib/context.ts';
import type { ExecutionStarted } from '../../lib/contract/executions.ts';
import { runExecution } from '../../lib/executions/run-execution.ts';
import type { Model } from '../../lib/model/converse.ts';
import { type Asked, type Company, text } from './company.ts';

const params = { name: 'writer' };
const writer = { ...params, displayName: 'Writer', category: 'business', description: text, systemPrompt: text };
const instruction = { input: text };

/** Hands something in, and does not pass the review. */
const faulty: Model = async ({ user }) => ({
  kind: 'text',
  text: user.includes('Done.') ? 'VERDICT: FAIL' : 'Done.',
  tokens: 1,
});

const hire = ({ ask, once }: Company, fields: Partial<typeof writer> = {}) =>
  once(`agent ${fields.name}`, () => ask('createAgent', { body: { ...writer, ...fields } }));

/** Hires an agent: what asks for it by its name. */
export const hired = async (company: Company, name = params.name): Promise<{ params: { name: string } }> => {
  await hire(company, { name });
  return { params: { name } };
};
const changing = (body: object) => async (company: Company) => ({ ...(await hired(company)), body });

/** Has an agent start so many executions, and each come to its end unless it is to run on. Answers the last one's id. */
export async function executed(
  company: Company,
  count: number,
  { name = params.name, ends = true } = {},
): Promise<string> {
  const { ask, organization } = company;
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
  async (company: Company) => {
    const asked = await hired(company, of.name);
    await company.once('executions', () => executed(company, count, of));
    return asked;
  };

/** A new task, and what has the writer work on it. */
export const onTask = (fields: object) => async (company: Company) => {
  const asked = await hired(company);
  const { id: taskId } = await company.ask('createTask', { body: { title: 'A task', description: text, ...fields } });
  return { ...asked, body: { ...instruction, taskId } };
};

const running = withExecutions(25, { ends: false });

/** What is in the table, and what is then asked of it, for each budget of an agent's row. */
export const agentScenarios = {
  listAgents: {
    '20 of 25': async (company) => {
      await Promise.all(Array.from({ length: 23 }, (_, nth) => hire(company, { name: `writer-${10 + nth}` })));
      return {};
    },
  },
  createAgent: {
    'with the default model': async () => ({ body: writer }),
    'with a model': async () => ({ body: { ...writer, name: 'reader', model: 'some.model' } }),
  },
  getAgent: { 'with a prompt': hired },
  updateAgent: {
    'its name': changing({ displayName: 'Another' }),
    'its prompt': changing({ systemPrompt: `${text}Another.` }),
    nothing: changing({ category: writer.category }),
  },
  deleteAgent: {
    'without executions': (company) => hired(company, 'idle'),
    'with an execution': withExecutions(1, { name: 'busy' }),
  },
  listSkills: {
    two: async (company) => {
      await hired(company);
      for (const skillId of ['sk_code-review', 'sk_release-notes'])
        await company.ask('assignSkill', { params, body: { skillId } });
      return { params };
    },
  },
  assignSkill: { one: changing({ skillId: 'sk_code-review' }) },
  unassignSkill: {
    one: async (company) => {
      await hired(company);
      await company.ask('assignSkill', { params, body: { skillId: 'sk_code-review' } });
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
    'without a task': async (company) => {
      await hired(company, 'reader');
      return { ...(await hired(company)), body: { toAgent: 'reader', instruction: text } };
    },
    'with a task': async (company) => {
      await hired(company, 'reader');
      const { body } = await onTask({ assignedAgent: 'writer' })(company);
      return { params, body: { toAgent: 'reader', instruction: text, taskId: body.taskId } };
    },
  },
  listExecutions: {
    '20 of 25': running,
    'with a status': async (company) => ({ ...(await running(company)), query: 'status=running' }),
  },
  listAgentExecutions: { '20 of 25': running },
  getExecution: {
    ended: async (company) => {
      await hired(company);
      return { params: { ...params, id: await executed(company, 1) } };
    },
  },
  getMetrics: { 'of 30 days, of three executions': withExecutions(3) },
  selfImproveAgent: { 'from two executions, adopted': withExecutions(2) },
  listSkillCatalogue: { all: async () => ({}) },
} satisfies Record<string, Record<string, (company: Company) => Promise<Asked>>>;

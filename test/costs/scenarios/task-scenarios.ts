import { type Task, taskPriorities, taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { searchEntry } from '../../../lib/table/tasks/search-entries.ts';
import { randomFrom } from '../../soak/random.ts';
import { bareTasks, seed, writeItems } from '../../table/tasks/seed.ts';
import { type Asked, type TestOrganization, text } from '../test-organization.ts';

const [assignedAgent, projectId] = ['qa-reviewer', 'proj_one'];
const bare = { title: 'A task', description: text };
const both = { ...bare, assignedAgent, projectId };

const put = ({ ask }: TestOrganization, fields: object = bare) => ask('createTask', { body: fields });
const putMany = async (caller: TestOrganization, count: number): Promise<string[]> => {
  const tasks = await Promise.all(Array.from({ length: count }, () => put(caller)));
  return tasks.map(({ id }) => id);
};
const one = async (caller: TestOrganization, fields: object = bare): Promise<{ params: { id: string } }> => {
  const { id } = await put(caller, fields);
  return { params: { id } };
};
const changing = (fields: object, body: object) => async (caller: TestOrganization) => ({
  ...(await one(caller, fields)),
  body,
});

/** Writes 100 tasks of a year, spread over their facets; half have an agent. Their ids are the same in each run. */
async function seedYear({ service, organization }: TestOrganization): Promise<void> {
  const timeAt = (nth: number) => Date.UTC(2025, 0, 1) + nth * 3.65 * 86_400_000;
  const tasks = bareTasks(100, timeAt, randomFrom(1)).map((task, nth) => ({
    ...{ ...task, title: 'A task', description: text, ...(nth % 2 === 0 && { assignedAgent }) },
    status: taskStatuses[nth % 6] ?? 'backlog',
    priority: taskPriorities[Math.floor(nth / 6) % 4] ?? 'medium',
  }));
  await seed(service.table, organization, tasks);
}

/** Creates agents beside the two that every organization has. */
const createAgents = ({ ask }: TestOrganization, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, nth) =>
      ask('createAgent', {
        body: { name: `agent-${nth}`, displayName: 'An agent', category: 'qa', description: text },
      }),
    ),
  );

const listing = (query: string) => async (caller: TestOrganization) => {
  await caller.once('year', () => seedYear(caller));
  return { query };
};

/** Writes the search entries of tasks with an agent and a project, and the tasks of the newest. */
async function seedSearched({ service, organization }: TestOrganization, count: number): Promise<void> {
  const tasks = bareTasks(count, (nth) => Date.UTC(2025, 0, 1) - nth * 60_000, randomFrom(1)).map((task) => ({
    ...{ ...task, title: 'Build the landing page of the customer', description: text, assignedAgent, projectId },
  }));
  await seed(service.table, organization, tasks.slice(0, 20));
  await writeItems(
    service.table,
    tasks.map((task) => searchEntry(organization, task)),
  );
}

const searching = (count: number, query: string) => async (caller: TestOrganization) => {
  await caller.once(`${count} searched`, () => seedSearched(caller, count));
  return { query };
};

const worker = 'laptop of Ada';

/** Creates a task, lets a worker claim it, and returns a request of that worker. */
const ofClaim =
  (fields: object, body: object = {}) =>
  async (caller: TestOrganization) => {
    const { params } = await one(caller, fields);
    const { claim } = (await caller.ask('claimTask', { params, body: { worker } })) as unknown as Task;
    return { params, body: { claimId: claim?.id, ...body } };
  };

/** Creates a task with 100 comments. */
const commentedTask = async (caller: TestOrganization) => {
  const { params } = await one(caller);
  for (let written = 0; written < 100; written++) await caller.ask('commentOnTask', { params, body: { text } });
  return params;
};

/** For each budget of a task's row: creates the items in the table, and returns the measured request. */
export const taskScenarios = {
  listTasks: {
    '20 of 100': listing(''),
    'with an agent': listing('assigned_agent=qa-reviewer'),
    'with a status': listing('status=backlog'),
    'with a priority': listing('priority=low'),
    'with agent, status and priority': listing('assigned_agent=qa-reviewer&status=backlog&priority=low'),
    'from offset 70': listing('offset=70'),
    'that wait for a review': listing('waiting_for=review'),
    'with the blockers of 20, each of five dependencies': async (caller) => {
      const dependsOn = await putMany(caller, 5);
      for (let created = 0; created < 20; created++) await put(caller, { ...bare, dependsOn });
      return { query: 'include=blockedBy' };
    },
  },
  countTasks: {
    'by status, of 100': listing(''),
    'by status, with an agent': listing('assigned_agent=qa-reviewer'),
    'by agent, of 25': async (caller) => {
      await caller.once('agents', () => createAgents(caller, 23));
      return listing('group_by=assigned_agent')(caller);
    },
  },
  listReadyTasks: {
    '20 of 100': listing(''),
    '20, each of five dependencies': async (caller) => {
      const dependsOn = await putMany(caller, 5);
      for (const id of dependsOn) await caller.ask('updateTask', { params: { id }, body: { status: 'done' } });
      for (let created = 0; created < 20; created++) await put(caller, { ...bare, projectId: 'proj_two', dependsOn });
      return { query: 'project_id=proj_two' };
    },
  },
  searchTasks: {
    '20 of 10,000': searching(10_000, 'q=landing'),
    'none of 10,000': searching(10_000, 'q=nothing'),
    'none of 100,000, the first of ten requests': searching(100_000, 'q=nothing'),
  },
  claimTask: {
    bare: async (caller) => ({ ...(await one(caller)), body: { worker } }),
    'with an agent': async (caller) => ({ ...(await one(caller, { ...bare, assignedAgent })), body: { worker } }),
    'with both': async (caller) => ({ ...(await one(caller, both)), body: { worker } }),
  },
  claimNextTask: {
    'of 20': async (caller) => {
      for (let created = 0; created < 20; created++) await put(caller, { ...bare, projectId: 'proj_three' });
      return { body: { worker, projectId: 'proj_three' } };
    },
    'of none': async () => ({ body: { worker, projectId: 'proj_none' } }),
  },
  renewClaim: { bare: ofClaim(bare) },
  releaseTask: { bare: ofClaim(bare, { status: 'qa_review' }), 'with both': ofClaim(both, { status: 'qa_review' }) },
  takeBackTask: { bare: async (caller) => ({ params: (await ofClaim(bare)(caller)).params }) },
  reviewTask: {
    'accepted, with both': changing({ ...both, status: 'up_for_review' }, { decision: 'accept' }),
    'sent back, with both': changing({ ...both, status: 'up_for_review' }, { decision: 'send_back', comment: text }),
  },
  listComments: { '20 of 100': async (caller) => ({ params: await commentedTask(caller) }) },
  commentOnTask: { bare: changing(bare, { text }) },
  updateComment: {
    bare: async (caller) => {
      const { params } = await one(caller);
      const { id: commentId } = await caller.ask('commentOnTask', { params, body: { text } });
      return { params: { ...params, commentId }, body: { text: 'Another.' } };
    },
  },
  createTask: {
    bare: async () => ({ body: bare }),
    'with an agent': async () => ({ body: { ...bare, assignedAgent } }),
    'with a project': async () => ({ body: { ...bare, projectId } }),
    'with both': async () => ({ body: both }),
    'with five dependencies': async (caller) => ({ body: { ...bare, dependsOn: await putMany(caller, 5) } }),
    'with an Idempotency-Key': async () => ({ body: bare, headers: { 'Idempotency-Key': 'once' } }),
  },
  getTask: {
    bare: one,
    'with five dependencies': async (caller) => one(caller, { ...bare, dependsOn: await putMany(caller, 5) }),
  },
  updateTask: {
    'its text': changing(both, { title: 'Another' }),
    'its status': changing(bare, { status: 'done' }),
    'its status, with an agent': changing({ ...bare, assignedAgent }, { status: 'done' }),
    'its status, with both': changing(both, { status: 'done' }),
    'a new dependency': async (caller) => changing(bare, { dependsOn: await putMany(caller, 1) })(caller),
    nothing: changing(bare, { title: bare.title }),
  },
  deleteTask: {
    bare: one,
    'with both': (caller) => one(caller, both),
    'with five dependencies': async (caller) => one(caller, { ...bare, dependsOn: await putMany(caller, 5) }),
  },
} satisfies Record<string, Record<string, (caller: TestOrganization) => Promise<Asked>>>;

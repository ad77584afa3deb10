import { type Client, CrewboardError, everyItem, waitForExecution } from '../../client/client.ts';
import { demoAgents, demoTasks, isDemoAgent } from './demo-content.ts';
import { demoProject } from './demo-project.ts';

/** How long the demo board waits for its runs, all together, in milliseconds. Runs that take longer go on by themselves. */
const patienceMs = 30_000;

/** What the demo board has. */
export type LoadedDemo = { tasks: number; agents: number; runs: number };

/**
 * Creates the agents and the tasks of the demo board, and runs the agents, if only the simulator answers for them and the token
 * may run them. Nothing of it costs tokens. All tasks have the same project, so that a filter shows them. Agents of the demo
 * that exist already, because an earlier attempt failed, stay.
 *
 * @throws `Error` if an agent that the demo did not make has one of its names; nothing is created then
 */
export async function loadDemo(client: Client): Promise<LoadedDemo> {
  // The deployment may have another model than at the sign-in.
  const { scopes, simulatedModel } = (await client.getMe()).data;
  const mayExecute = scopes.includes('agents:execute');
  await createAgents(client, mayExecute);
  const runs = simulatedModel && mayExecute;
  const deadline = Date.now() + patienceMs;
  const ids: string[] = [];
  for (const { after = [], runs: planned = [], ...task } of demoTasks) {
    const dependsOn = after.map((at) => ids[at] as string);
    const status = runs && planned.length > 0 ? 'assigned' : (task.status ?? 'backlog');
    ids.push((await client.createTask({ body: { ...task, status, projectId: demoProject, dependsOn } })).data.id);
  }
  if (runs) for (const [at, taskId] of ids.entries()) await runAgents(client, at, taskId, deadline);
  return counts(client, deadline);
}

/** Creates the agents that do not exist. Without the right to run agents, a token cannot create one that delegates. */
async function createAgents(client: Client, mayExecute: boolean): Promise<void> {
  const existing = new Set<string>();
  for await (const agent of everyItem(client.listAgents)) {
    const { name } = agent;
    if (!demoAgents.some((one) => one.name === name)) continue;
    if (!isDemoAgent(agent))
      throw new Error(`There is an agent ${name} that the demo has not made. Delete it to load the demo board.`);
    existing.add(name);
  }
  for (const agent of demoAgents.filter(({ name }) => !existing.has(name))) {
    const capabilities = agent.capabilities.filter((one) => mayExecute || one !== 'delegate');
    await client.createAgent({ body: { ...agent, capabilities } });
  }
}

/** Runs the agent of a task as the demo plans it, and reviews what it did. */
async function runAgents(client: Client, at: number, taskId: string, deadline: number): Promise<void> {
  const { assignedAgent: name = '', runs = [] } = demoTasks[at] ?? {};
  for (const { input, review } of runs) {
    const { executionId: id } = (await client.executeAgent({ params: { name }, body: { input, taskId } })).data;
    const ended = await untilEnd(client, name, id, deadline);
    if (ended?.status !== 'completed') return;
    if (review) await client.reviewTask({ params: { id: taskId }, body: review });
  }
}

/** Waits for the end of a run; `undefined` if it takes too long. */
async function untilEnd(client: Client, name: string, id: string, deadline: number) {
  const timeoutMs = Math.max(1, deadline - Date.now());
  return waitForExecution(client, { name, id, timeoutMs }).catch((error: unknown) => {
    if (error instanceof CrewboardError && error.code === 'still_running') return undefined;
    throw error;
  });
}

/** Counts what the demo board has, with what its agents have created. */
async function counts(client: Client, deadline: number): Promise<LoadedDemo> {
  let runs = 0;
  for (const { name } of demoAgents) {
    const { data, pagination } = await client.listAgentExecutions({ params: { name }, query: { limit: 100 } });
    runs += pagination.total;
    // An agent may still work on what was delegated to it.
    for (const { id } of data.filter(({ status }) => status === 'running')) await untilEnd(client, name, id, deadline);
  }
  const { total } = (await client.listTasks({ query: { project_id: demoProject, limit: 1 } })).pagination;
  return { tasks: total, agents: demoAgents.length, runs };
}

import { type Client, CrewboardError, everyItem } from '../../client/client.ts';
import type { TaskListItem } from '../../client/operations.ts';
import { messageOf } from '../components/format/message-of.ts';
import { demoAgents, isDemoAgent } from './demo-content.ts';
import { demoProject } from './demo-project.ts';

/** What was deleted, and what was not, as sentences. */
export type RemovedDemo = { tasks: number; agents: number; kept: readonly string[] };

/**
 * Deletes the agents that the demo board has made, which ends their runs, and then all tasks of its project, also those that
 * agents or people have created there.
 *
 * @param mayDeleteAgents whether the token may read and delete agents
 */
export async function removeDemo(client: Client, mayDeleteAgents: boolean): Promise<RemovedDemo> {
  const agents = mayDeleteAgents ? await removeAgents(client) : { removed: 0, kept: [] };
  const tasks = await removeTasks(client);
  return { tasks: tasks.removed, agents: agents.removed, kept: [...agents.kept, ...tasks.kept] };
}

type Removed = { removed: number; kept: readonly string[] };

async function removeAgents(client: Client): Promise<Removed> {
  const named: { name: string; description?: string | undefined }[] = [];
  for await (const agent of everyItem(client.listAgents))
    if (demoAgents.some(({ name }) => name === agent.name)) named.push(agent);
  const own = named.filter(isDemoAgent);
  for (const { name } of own) await ignoringMissing(client.deleteAgent({ params: { name } }));
  const others = named.filter((agent) => !isDemoAgent(agent));
  return {
    removed: own.length,
    kept: others.map(
      ({ name }) => `The agent ${name} stays, because it has another description than the demo gave it.`,
    ),
  };
}

/** Deletes the tasks, the newest first, in rounds: a task on which another one depends can be deleted only after that one. */
async function removeTasks(client: Client): Promise<Removed> {
  for (let removed = 0; ; ) {
    const tasks: TaskListItem[] = [];
    for await (const task of everyItem(client.listTasks, { query: { project_id: demoProject } })) tasks.push(task);
    const before = removed;
    const kept: string[] = [];
    for (const { id, title } of tasks) {
      const error = await ignoringMissing(client.deleteTask({ params: { id } })).catch(refusal);
      if (error === undefined) removed += 1;
      else kept.push(`The task “${title}” stays. ${messageOf(error)}`);
    }
    if (kept.length === 0 || removed === before) return { removed, kept };
  }
}

/** Returns the error of a deletion that the service refuses; another one ends the removal. */
function refusal(error: unknown): CrewboardError {
  if (error instanceof CrewboardError && error.status === 409) return error;
  throw error;
}

/** Waits for a deletion. A resource that is gone already needs none. */
async function ignoringMissing(deletion: Promise<unknown>): Promise<undefined> {
  await deletion.catch((error: unknown) => {
    if (!(error instanceof CrewboardError && error.status === 404)) throw error;
  });
}

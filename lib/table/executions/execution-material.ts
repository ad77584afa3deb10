import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { type Key, keys } from '../access/keys.ts';
import { getItems } from '../access/reads.ts';
import type { Item } from '../access/write.ts';
import { type AgentHead, agentFrom } from '../agents/agent-items.ts';
import type { AgentContext } from '../agents/agents.ts';
import { type StoredTask, taskFrom } from '../tasks/task-items.ts';
import { type ExecutionInput, executionFrom, inputFrom, type RunningExecution } from './execution-items.ts';
import { type Noted, notedFrom, receivedKey } from './received.ts';

/** The data that a worker reads before it calls a model. Items that do not exist any more are absent. */
export type Material = {
  input?: ExecutionInput | undefined;
  /** What an earlier worker gave to models. */
  noted?: Noted | undefined;
  agent?: AgentHead | undefined;
  reviewer?: AgentHead | undefined;
  task?: StoredTask | undefined;
};

/**
 * Reads the input of an execution, its agent, its task, the reviewer, and what its last worker gave to models, in one
 * request.
 *
 * @param reviewer the name of the agent that judges the output
 */
export async function readMaterial(
  { table, defaultModel }: AgentContext,
  execution: RunningExecution,
  reviewer: string,
): Promise<Material> {
  const { organization, id, agentName, taskId, received } = execution;
  const inputKey = keys.executionInput(organization, ulidOf(id));
  const [agentKey, reviewerKey] = [keys.agent(organization, agentName), keys.agent(organization, reviewer)];
  const taskKey = taskId === undefined ? undefined : keys.task(organization, ulidOf(taskId));
  const notedKey = received === undefined ? undefined : receivedKey(execution, received);
  const items = await getItems(table, [
    inputKey,
    agentKey,
    ...(agentName === reviewer ? [] : [reviewerKey]),
    ...(taskKey ? [taskKey] : []),
    ...(notedKey ? [notedKey] : []),
  ]);
  const read = <Read>(key: Key | undefined, from: (item: (typeof items)[number]) => Read): Read | undefined => {
    const item = key && itemOf(items, key);
    return item && from(item);
  };
  const headFrom = (item: Item) => agentFrom(item, defaultModel);
  return {
    input: read(inputKey, inputFrom),
    agent: read(agentKey, headFrom),
    reviewer: read(reviewerKey, headFrom),
    task: read(taskKey, taskFrom),
    noted: read(notedKey, notedFrom),
  };
}

/** A finished dependency of a task, as an execution on the task gets it. */
export type DependencyResult = Pick<StoredTask, 'title' | 'status'> & {
  /** The end and the output of the last execution on it. Absent if there is none, or if its output was deleted. */
  execution?: { completedAt: string; output: string };
};

/**
 * Reads the dependencies of a task that are done, in the given order, with the outputs of their last executions: in two
 * requests, or none without dependencies.
 *
 * @returns of an output its first part, which is all of it up to about 300,000 bytes
 */
export async function readDependencyResults(
  { table }: TableContext,
  organization: Organization,
  taskIds: readonly string[],
): Promise<DependencyResult[]> {
  const taskItems = await getItems(
    table,
    taskIds.map((id) => keys.task(organization, ulidOf(id))),
  );
  const done = taskItems.map(taskFrom).filter(({ status }) => status === 'done');
  const keysOf = (executionId: string): [head: Key, output: Key] => {
    const ulid = ulidOf(executionId);
    return [keys.executionHead(organization, ulid), keys.executionOutput(organization, ulid, 0)];
  };
  const items = await getItems(
    table,
    done.flatMap(({ lastExecution }) => (lastExecution === undefined ? [] : keysOf(lastExecution))),
  );
  return done.map(({ title, status, lastExecution }) => {
    const [head, output] = lastExecution === undefined ? [] : keysOf(lastExecution).map((key) => itemOf(items, key));
    const completedAt = head && executionFrom(head).completedAt;
    const execution = completedAt !== undefined && output && { completedAt, output: output.text as string };
    return { title, status, ...(execution && { execution }) };
  });
}

function itemOf(items: readonly Item[], key: Key): Item | undefined {
  return items.find(({ pk, sk }) => pk === key.pk && sk === key.sk);
}

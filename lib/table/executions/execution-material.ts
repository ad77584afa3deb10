import { ulidOf } from '../../contract/ids.ts';
import { type AgentHead, agentFrom } from '../agents/agent-items.ts';
import type { AgentContext } from '../agents/agents.ts';
import { type Key, keys } from '../keys.ts';
import { getItems } from '../reads.ts';
import { type StoredTask, taskFrom } from '../tasks/task-items.ts';
import type { Item } from '../write.ts';
import { type ExecutionInput, inputFrom, type RunningExecution } from './execution-items.ts';

/** The data that a worker reads before it calls a model. Items that do not exist any more are absent. */
export type Material = {
  input?: ExecutionInput | undefined;
  agent?: AgentHead | undefined;
  reviewer?: AgentHead | undefined;
  task?: StoredTask | undefined;
};

/**
 * Reads the input of an execution, its agent, its task and the reviewer, in one request.
 *
 * @param reviewer the name of the agent that judges the output
 */
export async function readMaterial(
  { table, defaultModel }: AgentContext,
  { organization, id, agentName, taskId }: RunningExecution,
  reviewer: string,
): Promise<Material> {
  const inputKey = keys.executionInput(organization, ulidOf(id));
  const [agentKey, reviewerKey] = [keys.agent(organization, agentName), keys.agent(organization, reviewer)];
  const taskKey = taskId === undefined ? undefined : keys.task(organization, ulidOf(taskId));
  const items = await getItems(table, [
    inputKey,
    agentKey,
    ...(agentName === reviewer ? [] : [reviewerKey]),
    ...(taskKey ? [taskKey] : []),
  ]);
  const read = <Read>(key: Key | undefined, from: (item: (typeof items)[number]) => Read): Read | undefined => {
    const item = key && items.find(({ pk, sk }) => pk === key.pk && sk === key.sk);
    return item && from(item);
  };
  const headFrom = (item: Item) => agentFrom(item, defaultModel);
  return {
    input: read(inputKey, inputFrom),
    agent: read(agentKey, headFrom),
    reviewer: read(reviewerKey, headFrom),
    task: read(taskKey, taskFrom),
  };
}

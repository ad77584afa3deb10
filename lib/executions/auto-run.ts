import { type QueueContext, sendMessages } from '../aws/queue.ts';
import type { Context } from '../context/context.ts';
import { ApiError } from '../contract/errors.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { AgentOrder } from '../names/messages.ts';
import type { TableContext } from '../table/access/client.ts';
import { requestFields } from '../table/access/current-request.ts';
import { Conflict } from '../table/access/transact.ts';
import { type AgentHead, startsItself } from '../table/agents/agent-items.ts';
import { readAgentHead } from '../table/agents/agents.ts';
import {
  countAutoStart,
  endWakeUp,
  noteLimit,
  noteWakeUp,
  organizationOfWake,
  readWakeUp,
  type WakeUp,
  wakeFrom,
  wakePartition,
} from '../table/agents/wake-ups.ts';
import { readRunningRows } from '../table/executions/execution-lists.ts';
import { graceMs, type SweepCall, type Swept, sweep } from '../table/lists/due.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { readAssignee, readTask } from '../table/tasks/tasks.ts';
import { isOffered } from '../tasks/claim-decisions.ts';
import { readReadyTasks } from '../tasks/ready-tasks.ts';
import { startsByItself } from '../tasks/rounds.ts';
import { startExecution } from './start-execution.ts';

/**
 * The service starts executions for the ready tasks of agents with `autoRun`. Messages only say which agent to look at: the look
 * reads what runs and what is ready, and starts while fewer than `maxRunning` executions of the agent run. The transaction
 * that starts an execution takes its task out of the ready ones, so repeated and late messages do nothing.
 */

/** How many ready tasks a look reads in a page. */
const pageSize = 20;

/** How many of the ready tasks a look reads at most: tasks that wait for a person can be in front. */
const readAtMost = 1_000;

/** For how long a look waits at least after a limit of the organization has refused a start, in milliseconds. */
const limitedMs = 60_000;

/** What has let a look end. */
type Ending = 'done' | 'full' | { limitedUntil: string };

/** Sends the order to look whether an agent starts by itself, if it is one that does; the sweeper looks a minute later. */
export async function wakeAgent(
  context: TableContext & QueueContext & { clock: () => number },
  organization: Organization,
  name: string,
): Promise<void> {
  const agent = await readAssignee(context, organization, name);
  if (!agent || !startsItself(agent)) return;
  await noteWakeUp(context, organization, agent, timestamp(context.clock() + graceMs));
  await orderLook(context, organization, name);
}

/** Sends the order to look whether an agent starts by itself. */
export async function orderLook(context: QueueContext, organization: Organization, agentName: string): Promise<void> {
  const message: AgentOrder = { organization, agentName, ...requestFields() };
  await sendMessages(context, 'executions', [{ message, delaySeconds: 0 }]);
}

/** Starts executions on the ready tasks of an agent, as many as it may. It can be repeated. */
export async function lookAtAgent(context: Context, organization: Organization, name: string): Promise<void> {
  const agent = await readAgentHead(context, organization, name);
  if (!agent) return;
  const wakeUp = await readWakeUp(context, organization, agent);
  const ending = startsItself(agent) ? await startAll(context, organization, agent) : 'done';
  if (typeof ending === 'object') await noteLimit(context, organization, agent, ending.limitedUntil);
  else await endWakeUp(context, organization, agent, wakeUp);
}

async function startAll(context: Context, organization: Organization, agent: AgentHead): Promise<Ending> {
  let read = 0;
  for await (const tasks of readReadyTasks(context, organization, { agent: agent.name }, pageSize)) {
    for (const task of tasks.filter((one) => startsByItself(one, agent))) {
      const ending = await startOn(context, organization, agent.name, task.id);
      if (ending) return ending;
    }
    read += pageSize;
    if (read >= readAtMost) break;
  }
  return 'done';
}

/** The agent runs enough, or does not start by itself any more. */
class Full extends Error {
  override name = 'Full';
}

/** The task is not ready for the agent any more. */
class Gone extends Error {
  override name = 'Gone';
}

/**
 * Starts an execution of an agent on a task.
 *
 * @returns why no further one can start; `undefined` if one may
 */
async function startOn(
  context: Context,
  organization: Organization,
  name: string,
  taskId: string,
): Promise<Ending | undefined> {
  let counted: { agent: AgentHead; wakeUp: WakeUp } | undefined;
  const decide = async () => {
    const agent = await readAgentHead(context, organization, name);
    if (!agent || !startsItself(agent)) throw new Full();
    // Read before the running executions: a start in between changes it, and this one decides again.
    const wakeUp = await readWakeUp(context, organization, agent);
    const [running, task] = await Promise.all([
      readRunningRows(context, organization, agent.id),
      readTask(context, organization, taskId),
    ]);
    if (running.length >= agent.maxRunning) throw new Full();
    if (!task || !isOffered(task) || !startsByItself(task, agent)) throw new Gone();
    counted = { agent, wakeUp };
    return { agent, task, input: { input: inputOf(task) }, byService: true as const };
  };
  const record = () => () => (counted ? [countAutoStart(organization, counted.agent, counted.wakeUp)] : []);
  try {
    await startExecution(context, organization, decide, record);
    return undefined;
  } catch (error) {
    if (error instanceof Full) return 'full';
    if (error instanceof Gone || error instanceof Conflict) return undefined;
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    if (error.code !== 'rate_limited') return undefined;
    const waitMs = Math.max(limitedMs, Number(error.headers['Retry-After'] ?? 0) * 1_000);
    return { limitedUntil: timestamp(context.clock() + waitMs) };
  }
}

/** Returns the input of an execution that the service starts: what the task says. */
function inputOf({ title, description }: StoredTask): string {
  return description ? `${title}\n\n${description}` : title;
}

/** Sends the orders to look at the agents that are due. */
export async function sweepAgents(context: Context, call: SweepCall): Promise<Swept> {
  return sweep(context, [wakePartition], call, async (items) => {
    for (const item of items) await orderLook(context, organizationOfWake(item), wakeFrom(item).name);
  });
}

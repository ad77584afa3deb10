import { requireAgentHead } from '../agents/require-agent.ts';
import type { Context } from '../context/context.ts';
import type { Page, Scope } from '../contract/endpoint.ts';
import { notFound } from '../contract/errors.ts';
import type {
  Execution,
  ExecutionFilter,
  ExecutionListItem,
  ExecutionStarted,
  NewExecution,
} from '../contract/executions/executions.ts';
import type { ExecutionStep, StepQuery } from '../contract/executions/steps.ts';
import type { Organization } from '../contract/organization.ts';
import type { TableContext } from '../table/access/client.ts';
import { type AgentContext, readAgentHead } from '../table/agents/agents.ts';
import type { RunningExecution } from '../table/executions/execution-items.ts';
import { readExecutionPage } from '../table/executions/execution-lists.ts';
import { readExecution, readExecutionHead } from '../table/executions/executions.ts';
import { readConversation, readStepPage } from '../table/executions/step-list.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { unknownTask } from '../table/tasks/task-edges.ts';
import { readTask } from '../table/tasks/tasks.ts';
import { withMessages } from './prompts/step-messages.ts';
import { type ExecutionOrder, startExecution } from './start-execution.ts';
import { withSubjects } from './subjects.ts';

/**
 * Starts an execution of an agent, and moves its task.
 *
 * @throws `ApiError` `not_found`, `unknown_reference`, `agent_not_active`, `task_blocked`, `rate_limited`
 */
export async function executeAgent(
  context: Context,
  organization: Organization,
  name: string,
  { taskId, ...input }: NewExecution,
  recordResponse: RecordResponse,
): Promise<ExecutionStarted> {
  const decide = async () => {
    const [agent, task] = await Promise.all([
      requireAgentHead(context, organization, name),
      taskId === undefined ? undefined : readTask(context, organization, taskId),
    ]);
    if (taskId !== undefined && !task) throw unknownTask(taskId, 'taskId');
    return { agent, input, task };
  };
  return startAndRespond(context, organization, decide, recordResponse);
}

/**
 * Starts an execution, and records the response in the same transaction.
 *
 * @throws as `startExecution`
 */
export async function startAndRespond(
  context: Context,
  organization: Organization,
  decide: () => Promise<ExecutionOrder>,
  recordResponse: RecordResponse,
): Promise<ExecutionStarted> {
  const execution = await startExecution(
    context,
    organization,
    decide,
    (started) => recordResponse && (() => recordResponse(responseOf(started))),
  );
  return responseOf(execution);
}

/**
 * Returns a page of the executions of all agents, newest first, with the exact total of the filter.
 *
 * @param scopes the scopes of the access token: without `tasks:read`, executions have no title of their task
 */
export async function listExecutions(
  context: AgentContext,
  organization: Organization,
  { agentName, status, include }: ExecutionFilter,
  page: { limit: number; offset: number },
  scopes: readonly Scope[],
): Promise<Page<ExecutionListItem>> {
  const agent = agentName === undefined ? undefined : await readAgentHead(context, organization, agentName);
  if (agentName !== undefined && !agent) return { items: [], total: 0 };
  const found = await readExecutionPage(context, organization, { agentId: agent?.id, status }, page);
  return including(context, organization, found, include, scopes);
}

/**
 * Returns a page of the executions of an agent, newest first, with the exact total of the filter.
 *
 * @param scopes the scopes of the access token: without `tasks:read`, executions have no title of their task
 * @throws `ApiError` `not_found` if the agent does not exist
 */
export async function listAgentExecutions(
  context: AgentContext,
  organization: Organization,
  name: string,
  { agentName = name, status, include }: ExecutionFilter,
  page: { limit: number; offset: number },
  scopes: readonly Scope[],
): Promise<Page<ExecutionListItem>> {
  const agent = await requireAgentHead(context, organization, name);
  if (agentName !== name) return { items: [], total: 0 };
  const found = await readExecutionPage(context, organization, { agentId: agent.id, status }, page);
  return including(context, organization, found, include, scopes);
}

/** Returns a page with what the caller has asked for: the results, which the list stores, and the subjects. */
async function including(
  context: TableContext,
  organization: Organization,
  { items, total }: Page<ExecutionListItem>,
  include: ExecutionFilter['include'] = [],
  scopes: readonly Scope[],
): Promise<Page<ExecutionListItem>> {
  const shown = include.includes('results') ? items : items.map(withoutResults);
  if (!include.includes('subject')) return { items: shown, total };
  return { items: await withSubjects(context, organization, shown, scopes.includes('tasks:read')), total };
}

function withoutResults({ tokensUsed, tokensEstimated, qualityGates, error, ...item }: ExecutionListItem) {
  return item;
}

/**
 * Returns an execution of an agent, as it is now.
 *
 * @throws `ApiError` `not_found` if the agent does not exist or has no such execution
 */
export async function getExecution(
  context: AgentContext,
  organization: Organization,
  name: string,
  id: string,
): Promise<Execution> {
  const [agent, execution] = await Promise.all([
    requireAgentHead(context, organization, name),
    readExecution(context, { organization, id }),
  ]);
  if (execution?.agentId !== agent.id) throw notFound('execution');
  return execution;
}

/**
 * Returns a page of the steps of an execution, in the order of their numbers, and their exact number; with what each call of
 * a model received if the caller has asked for it.
 *
 * @throws `ApiError` `not_found` if the agent does not exist or has no such execution
 */
export async function listSteps(
  context: AgentContext,
  organization: Organization,
  name: string,
  id: string,
  { include, ...page }: StepQuery,
): Promise<Page<ExecutionStep>> {
  const [agent, execution] = await Promise.all([
    requireAgentHead(context, organization, name),
    readExecutionHead(context, { organization, id }),
  ]);
  if (execution?.agentId !== agent.id) throw notFound('execution');
  const found = await readStepPage(context, execution, page);
  const conversation = include && (await readConversation(context, execution));
  return conversation ? { ...found, items: withMessages(conversation, found.items) } : found;
}

/** Returns the data that the start of an execution returns. */
function responseOf({ id, agentName, status, startedAt }: RunningExecution): ExecutionStarted {
  return { executionId: id, agentName, status, startedAt };
}

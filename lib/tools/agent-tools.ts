import { listAgents } from '../agents/agents.ts';
import type { CatalogueSkill } from '../agents/skill-catalogue.ts';
import type { Context } from '../context/context.ts';
import { type AgentOperation, grantedOperations } from '../contract/agents/agent-operations.ts';
import { endpoints } from '../contract/endpoints.ts';
import { ApiError } from '../contract/errors.ts';
import { unknownFieldErrors } from '../contract/requests/validate.ts';
import { pick, type Schema } from '../contract/shapes.ts';
import { delegateTask } from '../executions/delegations.ts';
import type { ToolCall, ToolDefinition } from '../model/converse.ts';
import type { Write } from '../table/access/write.ts';
import type { PreparedAgent } from '../table/agents/prepared-agents.ts';
import type { RunningExecution } from '../table/executions/execution-items.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { commentOnTask } from '../tasks/discussion/comments.ts';
import type { Handover } from '../tasks/rounds.ts';
import { createTask, getTask, listTasks, updateTask } from '../tasks/tasks.ts';
import { withNearestAgents } from './nearest-agents.ts';
import { readSentInput } from './sent-input.ts';
import { authorizeDelegation, authorizeStatus, authorizeTaskChange, statusesOfAgents } from './task-permissions.ts';
import { type OperationId, readToolInput, toolOf } from './tool-definitions.ts';
import { errorOutputOf, outputOf, type Response } from './tool-output.ts';

/** The outcome of a call: `output` is what the model gets. `isInvalid`: an unknown tool or invalid arguments. */
export type ToolOutcome = { output: string; isError: boolean; isInvalid?: true };

/** The agent that calls a tool, with its execution and the skills of the deployment. */
type Caller = PreparedAgent & { execution: RunningExecution; catalogue: readonly CatalogueSkill[] };

type Input = Readonly<Record<string, unknown>>;

/** A call with valid arguments: a read, or a change that makes its writes together with the writes of `recordResponse`. */
type Act =
  | { read: () => Promise<Response> }
  | { data: Schema; change: (recordResponse: NonNullable<RecordResponse>) => Promise<unknown> };

/** A tool of agents. */
type AgentTool = {
  /** The operation whose input the tool has. */
  input: OperationId;
  definition: () => ToolDefinition;
  /** Returns a call with valid arguments. @throws `ApiError` for invalid arguments */
  actOf: (context: Context, caller: Caller, input: Input) => Act;
};

/** The path parameter that names the agent. An agent calls tools for itself only, so its model does not send it. */
const agentParameter = 'name';

/** The parameter with which `getTask` shows the result of any execution. The scopes of an agent's tools do not cover it. */
const resultParameter = 'include';

/** Returns whether the model of an agent does not send a parameter of an operation. */
function isWithheld(operation: OperationId, parameter: string): boolean {
  return parameter === agentParameter || (operation === 'getTask' && parameter === resultParameter);
}

/** The tool of each operation of agents. `agentOperations` has the capabilities that grant it. */
const agentTools: Readonly<Record<AgentOperation, AgentTool>> = {
  listTasks: {
    input: 'listTasks',
    definition: () => narrowed('listTasks'),
    actOf: (context, { execution: { organization } }, input) => {
      const {
        status,
        priority,
        assigned_agent: agent,
        project_id: project,
        waiting_for: waitingFor,
        include,
        ...page
      } = inputOf('listTasks', input).query;
      const read = async () => {
        const filter = { status, waitingFor, priority, agent, project };
        const { items, total } = await listTasks(context, organization, filter, page, include);
        const data = items.map((item) => pick(endpoints.listTasks.data, item));
        return { data, pagination: { limit: page.limit, offset: page.offset, total } };
      };
      return { read };
    },
  },
  getTask: {
    input: 'getTask',
    definition: () => narrowed('getTask'),
    actOf: (context, { execution: { organization } }, input) => {
      const { params } = inputOf('getTask', input);
      return {
        read: async () => {
          const { data } = await getTask(context, organization, params.id);
          return { data: pick(endpoints.getTask.data, data) };
        },
      };
    },
  },
  createTask: {
    input: 'createTask',
    definition: () => narrowed('createTask', 'You can change the task later.'),
    actOf: (context, caller, input) => {
      const { organization } = caller.execution;
      const { agent } = caller;
      const handover = handoverOf(caller);
      const { body } = inputOf('createTask', input);
      return {
        data: endpoints.createTask.data,
        change: async (recordResponse) => {
          authorizeStatus(body.status);
          return createTask(context, organization, { ...body, createdBy: agent.id }, recordResponse, handover);
        },
      };
    },
  },
  updateTask: {
    input: 'updateTask',
    definition: () =>
      narrowed(
        'updateTask',
        'You can change only tasks that you created or that are assigned to you, and no task that is done. You cannot change status, title and description while an execution works on the task, also yours, and not the status of a task in review.',
      ),
    actOf: (context, caller, input) => {
      const { execution, agent } = caller;
      const { params, body } = inputOf('updateTask', input);
      return {
        data: endpoints.updateTask.data,
        change: async (recordResponse) => {
          const { data } = await updateTask(context, execution.organization, params.id, body, () => {}, {
            authorize: (task, after) => authorizeTaskChange(context, execution, agent, task, body, after),
            handover: handoverOf(caller),
            recordResponse,
          });
          return data;
        },
      };
    },
  },
  commentOnTask: {
    input: 'commentOnTask',
    definition: () => ({ ...narrowed('commentOnTask'), name: 'comment' }),
    actOf: (context, { execution: { organization } }, input) => {
      const { params, body } = inputOf('commentOnTask', input);
      return {
        data: endpoints.commentOnTask.data,
        change: (recordResponse) => commentOnTask(context, organization, params.id, body.text, recordResponse),
      };
    },
  },
  listAgents: {
    input: 'listAgents',
    definition: () => narrowed('listAgents', 'These are the agents that you can delegate to, if they are active.'),
    actOf: (context, { execution: { organization } }, input) => {
      const { limit, offset, ...filter } = inputOf('listAgents', input).query;
      const read = async () => {
        const { items, total } = await listAgents(context, organization, filter, { limit, offset });
        const data = items.map((item) => pick(endpoints.listAgents.data, item));
        return { data, pagination: { limit, offset, total } };
      };
      return { read };
    },
  },
  delegateTask: {
    input: 'delegateTask',
    definition: () =>
      narrowed(
        'delegateTask',
        'You are the delegating agent, and get no report. The task can be the one that you work on, one that you created, or one that is assigned to you.',
      ),
    actOf: (context, { execution, agent }, input) => {
      const { body } = inputOf('delegateTask', input, agent.name);
      const authorize = authorizeDelegation.bind(undefined, execution, agent);
      return {
        data: endpoints.delegateTask.data,
        change: (recordResponse) =>
          delegateTask(context, execution.organization, agent.name, body, recordResponse, { execution, authorize }),
      };
    },
  },
  listSkills: {
    input: 'assignSkill',
    definition: () => ({
      ...narrowed('assignSkill'),
      name: 'read_skill',
      description: 'Read a skill. Returns the whole text of a skill that is assigned to you.',
    }),
    actOf: (_, { agent, skills, catalogue }, input) => {
      const { skillId } = inputOf('assignSkill', input, agent.name).body;
      return { read: async () => ({ data: readSkill(skills, catalogue, skillId) }) };
    },
  },
};

/** Returns the chain that the tasks carry which an execution creates or assigns. */
function handoverOf({ execution: { ancestors = [], agentId }, agent }: Caller): Handover {
  return { chain: [...ancestors, agentId], mayDelegate: agent.capabilities.includes('delegate') };
}

/** Returns the tools that capabilities grant, in a fixed order; none for an agent without a known capability. */
export function grantedTools(capabilities: readonly string[]): ToolDefinition[] {
  return grantedTo(capabilities).map(({ definition }) => definition());
}

/**
 * Carries out a call of an agent. A call that changes something makes its change in one transaction with the writes of
 * `recordEnd`: then the outcome is recorded, and the change is made exactly if the step has ended.
 *
 * @param recordEnd returns the writes that record the outcome; called again after a conflict
 * @returns the outcome, and whether it is recorded: always after a change, never after a read or an error
 * @throws `LeaseLost` and other errors of the writes of `recordEnd`, and faults of the table. An error of the API becomes
 *   an outcome
 */
export async function callAgentTool(
  context: Context,
  execution: RunningExecution,
  agent: PreparedAgent,
  catalogue: readonly CatalogueSkill[],
  call: Pick<ToolCall, 'name' | 'input'>,
  recordEnd: (outcome: ToolOutcome) => readonly Write[],
): Promise<{ outcome: ToolOutcome; recorded: boolean }> {
  let act: Act;
  let note: string | undefined;
  try {
    ({ act, note } = actOf(context, { ...agent, execution, catalogue }, call));
  } catch (error) {
    return { outcome: { ...(await failed(error)), isInvalid: true }, recorded: false };
  }
  try {
    if ('read' in act) return { outcome: successOf({ ...(await act.read()), note }), recorded: false };
    const { data, change } = act;
    const outcomeOf = (result: unknown) => successOf({ data: pick(data, result), note });
    const result = await change((response) => recordEnd(outcomeOf(response)));
    return { outcome: outcomeOf(result), recorded: true };
  } catch (error) {
    return { outcome: await failed(error), recorded: false };
  }

  async function failed(error: unknown): Promise<ToolOutcome> {
    if (!(error instanceof ApiError)) throw error;
    const { organization } = execution;
    return failureOf(await withNearestAgents(context, organization, agent.agent.name, error, call.input ?? {}));
  }
}

function grantedTo(capabilities: readonly string[]): AgentTool[] {
  return grantedOperations(capabilities).map((operation) => agentTools[operation]);
}

/**
 * Returns a call with valid arguments, and a note that names the arguments that were left out.
 *
 * @throws `ApiError` for an unknown tool or invalid arguments
 */
function actOf(
  context: Context,
  caller: Caller,
  { name, input: sent }: Pick<ToolCall, 'name' | 'input'>,
): { act: Act; note: string | undefined } {
  const granted = grantedTo(caller.agent.capabilities);
  const tool = granted.find(({ definition }) => definition().name === name);
  if (!tool) throw unknownTool(name, granted);
  if (!sent)
    throw new ApiError(
      'validation_failed',
      'The arguments are not a JSON object, are nested too deep, or have a number beyond ±9,007,199,254,740,991; send an object that matches the schema of the tool, with such a number as a string.',
    );
  const { input, note } = readSentInput(tool.input, sent);
  return { act: tool.actOf(context, caller, input), note };
}

/**
 * Returns the definition of the tool of an operation for agents: without what models do not send, and with the statuses that
 * agents may set.
 *
 * @param rules what the description says in addition
 */
function narrowed(operation: OperationId, rules?: string): ToolDefinition {
  const { name, description, inputSchema, hints } = toolOf(operation);
  const isSent = (one: string) => !isWithheld(operation, one);
  const all = Object.entries(inputSchema.properties as Record<string, object>);
  const properties = Object.fromEntries(all.filter(([one]) => isSent(one)));
  const { status } = properties;
  const required = (inputSchema.required as string[] | undefined)?.filter(isSent);
  return {
    name,
    description: rules ? `${description} ${rules}` : description,
    inputSchema: {
      ...inputSchema,
      properties: {
        ...properties,
        ...(status && !hints.readOnlyHint && { status: { ...status, enum: statusesOfAgents } }),
      },
      ...(required && { required }),
    },
  };
}

/**
 * Returns the validated input of a call.
 *
 * @param agentName the name of the calling agent, for an operation whose path has it
 * @throws `ApiError` `validation_failed`
 */
function inputOf<const Id extends OperationId>(operation: Id, input: Input, agentName?: string) {
  const sent = Object.keys(input).find((one) => isWithheld(operation, one));
  if (sent !== undefined)
    throw new ApiError('validation_failed', `${sent} is not a known field.`, unknownFieldErrors([sent], {}, 'field'));
  return readToolInput(operation, agentName === undefined ? input : { ...input, [agentParameter]: agentName });
}

/** @throws `ApiError` `not_found` for a skill that is not assigned */
function readSkill(
  skills: PreparedAgent['skills'],
  catalogue: readonly CatalogueSkill[],
  skillId: string,
): CatalogueSkill {
  const skill = skills.some(({ id }) => id === skillId) ? catalogue.find(({ id }) => id === skillId) : undefined;
  if (!skill)
    throw new ApiError('not_found', `No skill ${skillId} is assigned to you; read one of those in the system prompt.`);
  return skill;
}

function successOf(response: Response): ToolOutcome {
  return { output: outputOf(response), isError: false };
}

/** Returns the outcome of an error of the API; throws faults of the service. */
function failureOf(error: ApiError): ToolOutcome {
  if (error.status >= 500) throw error;
  return { output: errorOutputOf(error), isError: true };
}

function unknownTool(name: string, granted: readonly AgentTool[]): ApiError {
  const names = granted.map(({ definition }) => definition().name);
  return new ApiError(
    'not_found',
    `There is no tool ${JSON.stringify(name.slice(0, 64))}; ${names.length > 0 ? `use ${names.join(', ')}` : 'answer without tools'}.`,
  );
}

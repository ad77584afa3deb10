import { type Endpoint, type Scope, scopes } from '../endpoint.ts';
import type { delegateTask } from '../executions/executions.ts';
import type { commentOnTask } from '../tasks/comments.ts';
import type { createTask, getTask, listTasks, updateTask } from '../tasks/tasks.ts';
import type { listAgents, listSkills, ToolCapability } from './agents.ts';

/** An operation that models carry out by a tool: the scope of its row, and the capabilities that grant the tool. */
type Operation = { scope: Scope; grantedBy: readonly ToolCapability[] };

/**
 * Describes an operation by the type of its row, which checks the scope. The row itself would bring its schemas to functions that
 * have no use for them.
 */
function operation<Row extends Endpoint & { scope: Scope }>(
  scope: Row['scope'],
  ...grantedBy: ToolCapability[]
): Operation {
  return { scope, grantedBy };
}

/** The operations that models of agents carry out by tools, each with the capabilities that grant its tool. */
const agentOperations = {
  listTasks: operation<typeof listTasks>('tasks:read', 'tasks.read'),
  getTask: operation<typeof getTask>('tasks:read', 'tasks.read', 'tasks.write'),
  createTask: operation<typeof createTask>('tasks:write', 'tasks.write'),
  updateTask: operation<typeof updateTask>('tasks:write', 'tasks.write'),
  /** The tool is named `comment`. */
  commentOnTask: operation<typeof commentOnTask>('tasks:write', 'tasks.write'),
  listAgents: operation<typeof listAgents>('agents:read', 'delegate'),
  delegateTask: operation<typeof delegateTask>('agents:execute', 'delegate'),
  /** The tool `read_skill` also returns the text of a skill. */
  listSkills: operation<typeof listSkills>('agents:read', 'skills'),
} as const;

/** The name of an operation that models of agents carry out. */
export type AgentOperation = keyof typeof agentOperations;

/** Returns the operations that an agent with these capabilities can carry out, in the order of its tools. */
export function grantedOperations(capabilities: readonly string[]): AgentOperation[] {
  const operations = Object.keys(agentOperations) as AgentOperation[];
  return operations.filter((one) => agentOperations[one].grantedBy.some((granting) => capabilities.includes(granting)));
}

/**
 * Returns the scopes that the tools of an agent with these capabilities stand for: the scopes of the operations that its
 * model can carry out. An agent without tools has none.
 */
export function toolScopesOf(capabilities: readonly string[]): Scope[] {
  const needed = grantedOperations(capabilities).map((one): Scope => agentOperations[one].scope);
  return scopes.filter((scope) => needed.includes(scope));
}

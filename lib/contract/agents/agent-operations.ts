import { type Endpoint, type Scope, scopes } from '../endpoint.ts';
import { delegateTask } from '../executions/executions.ts';
import { requiredScopes } from '../required-scopes.ts';
import { commentOnTask } from '../tasks/comments.ts';
import { createTask, getTask, listTasks, updateTask } from '../tasks/tasks.ts';
import { listAgents, listSkills, type ToolCapability } from './agents.ts';

/** The operations that models of agents carry out by tools, each with the capabilities that grant its tool. */
const agentOperations = {
  listTasks: { row: listTasks, grantedBy: ['tasks.read'] },
  getTask: { row: getTask, grantedBy: ['tasks.read', 'tasks.write'] },
  createTask: { row: createTask, grantedBy: ['tasks.write'] },
  updateTask: { row: updateTask, grantedBy: ['tasks.write'] },
  /** The tool is named `comment`. */
  commentOnTask: { row: commentOnTask, grantedBy: ['tasks.write'] },
  listAgents: { row: listAgents, grantedBy: ['delegate'] },
  delegateTask: { row: delegateTask, grantedBy: ['delegate'] },
  /** The tool `read_skill` also returns the text of a skill. */
  listSkills: { row: listSkills, grantedBy: ['skills'] },
} as const satisfies Record<string, { row: Endpoint; grantedBy: readonly ToolCapability[] }>;

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
  const needed = grantedOperations(capabilities).flatMap((one) => requiredScopes(agentOperations[one].row));
  return scopes.filter((scope) => needed.includes(scope));
}

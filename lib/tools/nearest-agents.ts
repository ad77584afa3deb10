import { ApiError } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import { nearestFirst } from '../contract/requests/nearest-name.ts';
import { type AgentContext, readAgents } from '../table/agents/agents.ts';

/** The arguments that name an agent. */
const namingArguments = ['toAgent', 'assignedAgent', 'assigned_agent'];

/** How many agents an error names. */
const namedAgents = 5;

/**
 * Returns the error of a call with the names of the agents that are most similar to the rejected one; the error unchanged if
 * no name of an agent was rejected.
 *
 * @param caller the name of the calling agent, which cannot delegate to itself
 */
export async function withNearestAgents(
  context: AgentContext,
  organization: Organization,
  caller: string,
  error: ApiError,
  input: Readonly<Record<string, unknown>>,
): Promise<ApiError> {
  const path = error.details.map((detail) => detail.path).find((one) => namingArguments.includes(one));
  const sent = path === undefined ? undefined : input[path];
  if (typeof sent !== 'string') return error;
  const agents = await readAgents(context, organization);
  const usable = agents.filter(({ name, status }) => path !== 'toAgent' || (name !== caller && status === 'active'));
  const names = nearestFirst(
    sent,
    usable.map(({ name }) => name),
  ).slice(0, namedAgents);
  if (names.length === 0) return error;
  return new ApiError(error.code, `${error.message} The nearest agents: ${names.join(', ')}.`, error.details);
}

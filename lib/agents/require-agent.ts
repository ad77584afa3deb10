import { notFound } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import type { AgentHead, StoredAgent } from '../table/agents/agent-items.ts';
import { type AgentContext, readAgent, readAgentHead } from '../table/agents/agents.ts';

/**
 * Returns an agent with its prompt and soul.
 *
 * @throws `ApiError` `not_found`
 */
export async function requireAgent(
  context: AgentContext,
  organization: Organization,
  name: string,
): Promise<StoredAgent> {
  const agent = await readAgent(context, organization, name);
  if (!agent) throw notFound('agent');
  return agent;
}

/**
 * Returns an agent without its prompt and soul.
 *
 * @throws `ApiError` `not_found`
 */
export async function requireAgentHead(
  context: AgentContext,
  organization: Organization,
  name: string,
): Promise<AgentHead> {
  const agent = await readAgentHead(context, organization, name);
  if (!agent) throw notFound('agent');
  return agent;
}

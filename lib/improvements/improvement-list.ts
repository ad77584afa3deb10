import { requireAgentHead } from '../agents/require-agent.ts';
import type { ImprovementPass } from '../contract/agents/improvements.ts';
import type { Page } from '../contract/endpoint.ts';
import type { Organization } from '../contract/organization.ts';
import type { AgentContext } from '../table/agents/agents.ts';
import { readImprovementPage } from '../table/agents/improvements.ts';

/**
 * Returns a page of the self-improvement passes of an agent, newest first, and their exact number.
 *
 * @throws `ApiError` `not_found`
 */
export async function listImprovements(
  context: AgentContext,
  organization: Organization,
  name: string,
  page: { limit: number; offset: number },
): Promise<Page<ImprovementPass>> {
  const { id } = await requireAgentHead(context, organization, name);
  return readImprovementPage(context, organization, id, page);
}

import { type Actor, theService } from '../contract/actors.ts';
import { AgentPatch } from '../contract/agents/agents.ts';
import type { Page } from '../contract/endpoint.ts';
import type { Organization } from '../contract/organization.ts';
import type { FieldChange, HistoryEntry } from '../contract/tasks/history.ts';
import type { Item } from '../table/access/write.ts';
import { type AgentHead, agentFrom, type SkillChange } from '../table/agents/agent-items.ts';
import type { AgentContext } from '../table/agents/agents.ts';
import { changesBetween } from '../table/history/field-changes.ts';
import { type NewEntry, readHistoryPage } from '../table/history/history-rows.ts';
import { requireAgentHead } from './require-agent.ts';

/** The fields whose changes a history shows: all that a request can change. */
const fields = Object.keys(AgentPatch.entries);

/**
 * Returns a page of the history of an agent, the newest entries first.
 *
 * @throws `ApiError` `not_found`
 */
export async function getAgentHistory(
  context: AgentContext,
  organization: Organization,
  name: string,
  page: { limit: number; offset: number },
): Promise<Page<HistoryEntry>> {
  const { id } = await requireAgentHead(context, organization, name);
  return readHistoryPage(context, { organization, of: 'agent', id }, page);
}

/**
 * Returns the entries of a change of an agent.
 *
 * @param before the item before; `undefined` for a new agent
 */
export function entriesOfAgent(before: Item | undefined, after: Item, defaultModel: string): NewEntry[] {
  const [former, agent] = [before && agentFrom(before, defaultModel), agentFrom(after, defaultModel)];
  if (former && former.id === agent.id && former.version === agent.version) return [];
  const isNew = former?.id !== agent.id;
  const { by = theService, requestId, skill } = after as { by?: Actor; requestId?: string; skill?: SkillChange };
  const made = { by, ...(requestId !== undefined && { requestId }) };
  const changed = changesBetween(isNew ? undefined : former && shown(former), shown(agent), fields);
  const changes = isNew ? changed : [...changed, ...skillChanges(skill)];
  const order = String(agent.version).padStart(9, '0');
  // A change of skills has a time of its own: it changes no field of the agent.
  const at = isNew ? agent.createdAt : (skill?.at ?? agent.updatedAt);
  return [{ at, order, kind: isNew ? 'created' : 'changed', ...made, changes }];
}

/** Returns an agent with the hashes of its texts in place of the texts. */
const shown = ({ promptHash, soulHash, ...head }: AgentHead) => ({ ...head, systemPrompt: promptHash, soul: soulHash });

function skillChanges(skill: SkillChange | undefined): FieldChange[] {
  if (!skill) return [];
  const [from, to] = 'assigned' in skill ? [null, skill.assigned] : [skill.removed, null];
  return [{ field: 'skills', from, to }];
}

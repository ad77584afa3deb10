import { type AgentFilter, type AgentListItem, type AgentPatch, toolCapabilities } from '../contract/agents/agents.ts';
import { searching } from '../contract/texts/search-words.ts';
import { applyPatch } from '../table/access/patch.ts';
import { type StoredAgent, startsItself } from '../table/agents/agent-items.ts';

/**
 * Returns an agent after a patch; the same object if nothing changes. An agent always has a prompt and a soul: `null`
 * empties them.
 *
 * @param patch its `model` is a name: the caller has replaced `null` by the default model
 */
export function patchedAgent(
  agent: StoredAgent,
  patch: AgentPatch & { model?: string | undefined },
  now: string,
): StoredAgent {
  const emptied = (text: string | null | undefined) => (text === null ? '' : text);
  const { systemPrompt, soul } = patch;
  const next = applyPatch(agent, { ...patch, systemPrompt: emptied(systemPrompt), soul: emptied(soul) });
  return next === agent ? agent : { ...next, version: agent.version + 1, updatedAt: now };
}

/** Returns whether the service may start more executions of an agent by itself after a change of it. */
export function mayStartMore(before: StoredAgent, after: StoredAgent): boolean {
  if (!startsItself(after)) return false;
  return !startsItself(before) || after.maxRunning > before.maxRunning || after.autoRetry > before.autoRetry;
}

/** Returns whether a change takes rights from an agent: it is not active any more, or has lost a capability with tools. */
export function losesRights(before: StoredAgent, after: StoredAgent): boolean {
  const isLost = (capability: string) =>
    before.capabilities.includes(capability) && !after.capabilities.includes(capability);
  return (before.status === 'active' && after.status !== 'active') || toolCapabilities.some(isLost);
}

/**
 * Returns a function that checks whether an agent matches a filter. A search looks for its words in the name, the display
 * name and the description; see `search-words.ts`.
 */
export function matching({ category, status, search }: AgentFilter): (agent: AgentListItem) => boolean {
  const isFound = search === undefined ? undefined : searching(search);
  return (agent) => {
    if (category && agent.category !== category) return false;
    if (status && agent.status !== status) return false;
    if (search === undefined) return true;
    return isFound?.(`${agent.name} ${agent.displayName} ${agent.description ?? ''}`) ?? false;
  };
}

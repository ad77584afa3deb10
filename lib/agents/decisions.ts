import type { AgentFilter, AgentListItem, AgentPatch } from '../contract/agents.ts';
import type { StoredAgent } from '../table/agent-items.ts';

/**
 * The agent that a patch makes of an agent: the very same object when nothing differs, so that equal values write
 * nothing and keep the ETag.
 *
 * @param patch its `model` is named: the default one, where the caller has asked for that by `null`
 */
export function patched(
  agent: StoredAgent,
  patch: AgentPatch & { model?: string | undefined },
  now: string,
): StoredAgent {
  const { description, systemPrompt, soul, ...plain } = patch;
  const { description: described, ...rest } = agent;
  const next: StoredAgent = {
    ...rest,
    ...defined(plain),
    ...defined({ description: description === null ? undefined : (description ?? described) }),
    ...(systemPrompt !== undefined && { systemPrompt: systemPrompt ?? '' }),
    ...(soul !== undefined && { soul: soul ?? '' }),
  };
  return same(next, agent) ? agent : { ...next, version: agent.version + 1, updatedAt: now };
}

function defined<Fields extends object>(fields: Fields): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function same(a: StoredAgent, b: StoredAgent): boolean {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof StoredAgent)[];
  return names.every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]));
}

/**
 * The words of a text: runs of letters and digits, in one case and one spelling of each letter. The upper case, for the
 * lower one writes a sigma in two ways and leaves ß apart from ss.
 */
function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKC').toUpperCase().normalize('NFKC');
  return folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/**
 * What tells whether an agent is what a list asks for. A search finds an agent when each of its words begins a word of
 * the name, the display name or the description; without any word it finds none.
 */
export function matching({ category, status, search }: AgentFilter): (agent: AgentListItem) => boolean {
  const sought = search === undefined ? undefined : wordsOf(search);
  return (agent) => {
    if (category && agent.category !== category) return false;
    if (status && agent.status !== status) return false;
    if (!sought) return true;
    const words = wordsOf(`${agent.name} ${agent.displayName} ${agent.description ?? ''}`);
    return sought.length > 0 && sought.every((prefix) => words.some((word) => word.startsWith(prefix)));
  };
}

import { type AgentFilter, type AgentListItem, type AgentPatch, toolCapabilities } from '../contract/agents.ts';
import { type StoredAgent, startsItself } from '../table/agents/agent-items.ts';
import { applyPatch } from '../table/patch.ts';

/**
 * Returns an agent after a patch; the same object if nothing changes. An agent always has a prompt and a soul: `null`
 * empties them.
 *
 * @param patch its `model` is a name: the caller has replaced `null` by the default model
 */
export function patched(
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
 * Returns the words of a text: sequences of letters and digits, normalized for comparison. They are in upper case,
 * because lower case has two forms of sigma and keeps ß different from ss.
 */
function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKC').toUpperCase().normalize('NFKC');
  return folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** The characters of the scripts that have no spaces between words. */
const unspaced = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]`;

/** A place where a word can begin: beside such a character, but not before a mark that belongs to the character in front of it. */
const wordStart = new RegExp(`(?:(?<=${unspaced})|(?=${unspaced}))(?!\\p{M})`, 'uy');

/** Returns whether a sequence of letters and digits has a word that begins with a prefix. */
function hasWord(letters: string, prefix: string): boolean {
  for (let at = letters.indexOf(prefix); at >= 0; at = letters.indexOf(prefix, at + 1)) {
    wordStart.lastIndex = at;
    if (at === 0 || wordStart.test(letters)) return true;
  }
  return false;
}

/**
 * Returns a function that checks whether an agent matches a filter. A search matches if each of its words is the start
 * of a word in the name, the display name or the description. In scripts without spaces, each character can begin a word. A
 * search without words matches no agent.
 */
export function matching({ category, status, search }: AgentFilter): (agent: AgentListItem) => boolean {
  const prefixes = search === undefined ? undefined : wordsOf(search);
  return (agent) => {
    if (category && agent.category !== category) return false;
    if (status && agent.status !== status) return false;
    if (!prefixes) return true;
    const words = wordsOf(`${agent.name} ${agent.displayName} ${agent.description ?? ''}`);
    return prefixes.length > 0 && prefixes.every((prefix) => words.some((word) => hasWord(word, prefix)));
  };
}

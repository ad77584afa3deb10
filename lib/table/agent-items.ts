import { createHash } from 'node:crypto';
import type { Agent } from '../contract/agents.ts';
import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { requestTokenId } from '../request-context.ts';
import { type Key, keys } from './keys.ts';
import type { Item } from './write.ts';

/** An agent as it is stored, but for its long texts. Its id's ULID keys what belongs to it: a namesake sees none of it. */
export type AgentHead = Omit<Agent, 'systemPrompt' | 'soul'> & {
  /** Counts the changes; the `ETag`. */
  version: number;
  /** Names the prompt of this version: `sha256:` and 64 hexadecimal digits of its UTF-8 bytes. */
  promptHash: string;
  /** Names the soul of this version, likewise. */
  soulHash: string;
};

/** An agent whole. */
export type StoredAgent = Agent & { version: number };

/** What names a text: the SHA-256 of its UTF-8 bytes. */
export function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}

/** The name of the text of no characters, which is stored nowhere. */
const emptyHash = hashOf('');

/** The head of a whole agent. */
export function headOf({ systemPrompt, soul, ...head }: StoredAgent): AgentHead {
  return { ...head, promptHash: hashOf(systemPrompt), soulHash: hashOf(soul) };
}

/** Why an agent has another prompt than before. */
export type PromptChangeReason = 'created' | 'changed' | 'self-improved';

/** That an agent has had a prompt from a moment on: which, why, and by whom. */
export type PromptChange = {
  /** Names the prompt, which stands under it for as long as the agent does. */
  promptHash: string;
  at: string;
  why: PromptChangeReason;
  /** The id of the token that asked for it; absent for what the service has made itself. */
  by?: string;
  /** What a pass of self-improvement says of its change. */
  summary?: string;
};

/** The item that says so, in the order of time beside the agent's texts. */
export function promptChangeItem(
  organization: Organization,
  { id, systemPrompt, updatedAt, version }: StoredAgent,
  { why, summary }: Pick<PromptChange, 'why' | 'summary'>,
): Item {
  const by = requestTokenId();
  return {
    ...keys.promptChange(organization, ulidOf(id), updatedAt, version),
    promptHash: hashOf(systemPrompt),
    at: updatedAt,
    why,
    ...(by !== undefined && { by }),
    ...(summary !== undefined && { summary }),
  };
}

/** The item that an agent's head is stored as. Its creation is its id's own time. */
export function agentItem(
  organization: Organization,
  { createdAt: _, promptHash, soulHash, ...head }: AgentHead,
): Item {
  return {
    ...keys.agent(organization, head.name),
    kind: 'agent',
    ...head,
    ...(promptHash !== emptyHash && { promptHash }),
    ...(soulHash !== emptyHash && { soulHash }),
  };
}

/**
 * The head that an item stores.
 *
 * @param defaultModel of an agent that was put before agents had models
 */
export function agentFrom({ pk: _, sk: __, kind: ___, ...rest }: Item, defaultModel: string): AgentHead {
  const createdAt = timestamp(timeOf(ulidOf(rest.id as string)));
  return {
    model: defaultModel,
    capabilities: [],
    promptHash: emptyHash,
    soulHash: emptyHash,
    ...rest,
    createdAt,
  } as unknown as AgentHead;
}

/** The items of an agent's texts: what a hash names never changes. */
export function textItems(organization: Organization, { id, systemPrompt, soul }: StoredAgent): Item[] {
  const texts = [...new Set([systemPrompt, soul])].filter((text) => text !== '');
  return texts.map((text) => ({ ...textKey(organization, id, hashOf(text)), text }));
}

/** The keys of the texts that a head names. */
export function textKeys(organization: Organization, { id, promptHash, soulHash }: AgentHead): Key[] {
  const hashes = [...new Set([promptHash, soulHash])].filter((hash) => hash !== emptyHash);
  return hashes.map((hash) => textKey(organization, id, hash));
}

const textKey = (organization: Organization, id: string, hash: string) =>
  keys.agentText(organization, ulidOf(id), hash);

/**
 * The whole agent of a head and the items of its texts.
 *
 * @throws Error when a text is missing that the head names
 */
export function wholeAgent({ promptHash, soulHash, ...head }: AgentHead, texts: readonly Item[]): StoredAgent {
  const textOf = (hash: string): string => {
    if (hash === emptyHash) return '';
    const found = texts.find((item) => item.sk === hash);
    if (!found) throw new Error(`The text ${hash} of agent ${head.id} is missing.`);
    return found.text as string;
  };
  return { ...head, systemPrompt: textOf(promptHash), soul: textOf(soulHash) };
}

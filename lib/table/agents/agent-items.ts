import { createHash } from 'node:crypto';
import type { Agent } from '../../contract/agents/agents.ts';
import { standardConduct } from '../../contract/agents/standard-conduct.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { authorship, currentActor } from '../access/current-request.ts';
import { type Key, keys } from '../access/keys.ts';
import type { Item } from '../access/write.ts';

/**
 * An agent without its long texts. The keys of its other items have the ULID of its id, so a new agent with the name of
 * a deleted one gets none of its items.
 */
export type AgentHead = Omit<Agent, 'systemPrompt' | 'soul'> & {
  /** The number of changes. The `ETag` follows from it and the id. */
  version: number;
  /** The hash of the prompt: `sha256:` and 64 hexadecimal digits. */
  promptHash: string;
  /** The hash of the soul, in the same form. */
  soulHash: string;
};

/** The last change of an agent, if it was one of its skills: their ids, and when (ISO 8601). */
export type SkillChange = ({ assigned: string } | { removed: string }) & { at: string };

/** An agent with its texts. */
export type StoredAgent = Agent & { version: number };

/** The kind of agents in the stream. */
export const agentKind = 'agent';

/** Returns whether the service starts executions of an agent by itself. */
export function startsItself({ autoRun = false, status }: Pick<Agent, 'status'> & { autoRun?: boolean }): boolean {
  return autoRun && status === 'active';
}

/** Returns the hash of a text: the SHA-256 of its UTF-8 bytes. */
export function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}

/** The hash of the empty text, which is not stored. */
const emptyHash = hashOf('');

/** Returns an agent without its texts. */
export function headOf({ systemPrompt, soul, ...head }: StoredAgent): AgentHead {
  return { ...head, promptHash: hashOf(systemPrompt), soulHash: hashOf(soul) };
}

/** The reason of a change of a prompt. */
export type PromptChangeReason = 'created' | 'changed' | 'self-improved' | 'restored';

/** A change of an agent's prompt. */
export type PromptChange = {
  /** The hash of the new prompt. Its text is stored until the agent is deleted. */
  promptHash: string;
  /** The version of the agent with the new prompt. */
  version: number;
  /** ISO 8601. */
  at: string;
  why: PromptChangeReason;
  /** The id of the access token of the request; absent for a change by the service itself. */
  by?: string;
  /** The summary of a change by self-improvement or by a restoration. */
  summary?: string;
};

/** Returns the item of a change of the prompt. It is in the partition of the agent's texts and sorts by time. */
export function promptChangeItem(
  organization: Organization,
  { id, systemPrompt, updatedAt, version }: StoredAgent,
  { why, summary }: Pick<PromptChange, 'why' | 'summary'>,
): Item {
  const { id: by } = currentActor();
  return {
    ...keys.promptChange(organization, ulidOf(id), updatedAt, version),
    promptHash: hashOf(systemPrompt),
    at: updatedAt,
    why,
    ...(by !== undefined && { by }),
    ...(summary !== undefined && { summary }),
  };
}

/** Returns the change of a prompt that an item stores. Its key has the version of the agent. */
export function promptChangeFrom({ pk, sk, ...change }: Item): PromptChange {
  return { ...change, version: Number((sk as string).split('#')[1]) } as PromptChange;
}

/** Returns the item of an agent. Its time of creation is the time of its id, so it is not stored. */
export function agentItem(organization: Organization, { createdAt, promptHash, soulHash, ...head }: AgentHead): Item {
  // Only what differs: a list reads all agents of an organization.
  const isStandard = (name: string, value: unknown) => (standardConduct as Record<string, unknown>)[name] === value;
  const stored = Object.entries(head).filter(([name, value]) => !isStandard(name, value));
  return {
    ...keys.agent(organization, head.name),
    kind: agentKind,
    ...Object.fromEntries(stored),
    ...authorship(),
    ...(promptHash !== emptyHash && { promptHash }),
    ...(soulHash !== emptyHash && { soulHash }),
  };
}

/**
 * Returns the agent of an item.
 *
 * @param defaultModel of an agent that a version without models wrote
 */
export function agentFrom(item: Item, defaultModel: string): AgentHead {
  // Only the history of the agent has what is left out.
  const { pk: _pk, sk: _sk, kind: _kind, by: _by, requestId: _requestId, skill: _skill, ...rest } = item;
  const createdAt = timestamp(timeOf(ulidOf(rest.id as string)));
  return {
    model: defaultModel,
    capabilities: [],
    ...standardConduct,
    promptHash: emptyHash,
    soulHash: emptyHash,
    ...rest,
    createdAt,
  } as unknown as AgentHead;
}

/** Returns the items of an agent's texts. The text of a hash never changes. */
export function textItems(organization: Organization, { id, systemPrompt, soul }: StoredAgent): Item[] {
  const texts = [...new Set([systemPrompt, soul])].filter((text) => text !== '');
  return texts.map((text) => ({ ...textKey(organization, id, hashOf(text)), text }));
}

/** Returns the keys of an agent's texts. */
export function textKeys(organization: Organization, { id, promptHash, soulHash }: AgentHead): Key[] {
  const hashes = [...new Set([promptHash, soulHash])].filter((hash) => hash !== emptyHash);
  return hashes.map((hash) => textKey(organization, id, hash));
}

const textKey = (organization: Organization, id: string, hash: string) =>
  keys.agentText(organization, ulidOf(id), hash);

/** Returns the text of a hash from its item; `undefined` without an item, unless the text is empty. */
export function textFrom(hash: string, item: Item | undefined): string | undefined {
  return hash === emptyHash ? '' : (item?.text as string | undefined);
}

/**
 * Returns an agent with its texts.
 *
 * @param texts the items of the texts
 * @throws Error if a text is missing
 */
export function wholeAgent({ promptHash, soulHash, ...head }: AgentHead, texts: readonly Item[]): StoredAgent {
  const textOf = (hash: string): string => {
    const found = textFrom(
      hash,
      texts.find((item) => item.sk === hash),
    );
    if (found === undefined) throw new Error(`The text ${hash} of agent ${head.id} is missing.`);
    return found;
  };
  return { ...head, systemPrompt: textOf(promptHash), soul: textOf(soulHash) };
}

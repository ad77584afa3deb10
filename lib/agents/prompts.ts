import type { Context } from '../context/context.ts';
import type { Agent } from '../contract/agents/agents.ts';
import type { Prompt, PromptListItem, PromptSource } from '../contract/agents/prompts.ts';
import type { Page, Precondition, Scope, Versioned } from '../contract/endpoint.ts';
import { notFound } from '../contract/errors.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { retryOnConflict, transact } from '../table/access/transact.ts';
import {
  type AgentHead,
  hashOf,
  headOf,
  type PromptChange,
  type PromptChangeReason,
} from '../table/agents/agent-items.ts';
import { type AgentContext, changeAgent } from '../table/agents/agents.ts';
import { readPrompt, readPromptChanges } from '../table/agents/prompts.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { authorizeAgentChange } from './agent-permissions.ts';
import { versioned } from './agents.ts';
import { requireAgent, requireAgentHead } from './require-agent.ts';

const sources: Record<PromptChangeReason, PromptSource> = {
  created: 'create',
  changed: 'update',
  'self-improved': 'self-improve',
  restored: 'restore',
};

/**
 * Returns a page of the prompts of an agent, newest first, and their exact number.
 *
 * @throws `ApiError` `not_found`
 */
export async function listPrompts(
  context: AgentContext,
  organization: Organization,
  name: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<PromptListItem>> {
  const agent = await requireAgentHead(context, organization, name);
  const prompts = await readPrompts(context, organization, agent);
  return { items: prompts.slice(offset, offset + limit), total: prompts.length };
}

/**
 * Returns a current or former prompt of an agent with its text.
 *
 * @throws `ApiError` `not_found` for an agent that does not exist, or a prompt that it never had
 */
export async function getPrompt(
  context: AgentContext,
  organization: Organization,
  name: string,
  hash: string,
): Promise<Prompt> {
  return requirePrompt(context, organization, await requireAgentHead(context, organization, name), hash);
}

/**
 * Makes a former prompt of an agent the current one. If it is the current one already, nothing changes.
 *
 * @param scopes the scopes of the caller
 * @throws `ApiError` `not_found`, `precondition_failed`, `insufficient_scope` for tools that need other scopes
 */
export function restorePrompt(
  context: AgentContext & Pick<Context, 'clock'>,
  organization: Organization,
  name: string,
  hash: string,
  ifMatch: Precondition,
  recordResponse: RecordResponse,
  scopes: readonly Scope[],
): Promise<Versioned<Agent>> {
  return retryOnConflict(context.table, async () => {
    const before = await requireAgent(context, organization, name);
    const { systemPrompt, version } = await requirePrompt(context, organization, headOf(before), hash);
    ifMatch(before);
    const isCurrent = systemPrompt === before.systemPrompt;
    const updatedAt = timestamp(context.clock());
    const after = isCurrent ? before : { ...before, systemPrompt, version: before.version + 1, updatedAt };
    authorizeAgentChange(scopes, before, after);
    const also = recordResponse?.(versioned(after)) ?? [];
    if (!isCurrent) {
      const summary =
        version === undefined ? 'Restores an earlier prompt.' : `Restores the prompt of version ${version}.`;
      await changeAgent(context, organization, before, after, { why: 'restored', summary, also });
    } else if (also.length > 0) await transact(context.table, also);
    return versioned(after);
  });
}

/** Returns all prompts of an agent, newest first. The current one is always among them. */
async function readPrompts(
  context: AgentContext,
  organization: Organization,
  agent: AgentHead,
): Promise<PromptListItem[]> {
  const { promptHash: hash, version, createdAt } = agent;
  const prompts = (await readPromptChanges(context, organization, agent.id)).map(promptOf);
  if (prompts.some((prompt) => prompt.hash === hash)) return prompts;
  // A version of the service without changes of prompts stored it. An agent of version 1 still has its first prompt.
  return [{ hash, ...(version === 1 && { version, createdAt, source: 'create' }) }, ...prompts];
}

/**
 * Returns a prompt of an agent. A text without a change is one that only was a soul. But versions of the service without
 * changes of prompts stored prompts and souls alike: of an agent that they created, each text except the current soul
 * counts as a prompt.
 *
 * @throws `ApiError` `not_found`
 */
async function requirePrompt(
  context: AgentContext,
  organization: Organization,
  agent: AgentHead,
  hash: string,
): Promise<Prompt> {
  const [prompts, systemPrompt] = await Promise.all([
    readPrompts(context, organization, agent),
    readPrompt(context, organization, agent.id, hash),
  ]);
  const prompt = prompts.find((one) => one.hash === hash);
  const isComplete = prompts.some(({ source }) => source === 'create');
  const isNone = !prompt && (isComplete || [agent.soulHash, hashOf('')].includes(hash));
  if (systemPrompt === undefined || isNone) throw notFound('prompt');
  return { hash, ...prompt, systemPrompt };
}

function promptOf({ promptHash, version, at, why, summary }: PromptChange): PromptListItem {
  return {
    hash: promptHash,
    version,
    createdAt: at,
    source: sources[why],
    ...(summary !== undefined && { changesSummary: summary }),
  };
}

import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { AgentName, count, described, oneOf, PromptHash, pageQuery, Timestamp } from '../shapes.ts';
import { Agent, exampleAgent, needsToolScopes } from './agents.ts';

/** The reasons why an agent has a prompt. */
export const PromptSource = oneOf(['create', 'update', 'self-improve', 'restore']);
export type PromptSource = v.InferOutput<typeof PromptSource>;

const unknownBefore = 'Absent if it is not known, for a prompt that an early version of the service stored';

/** A system prompt of an agent, as the list returns it: one entry for each time that the prompt changed. */
export const PromptListItem = v.object({
  hash: PromptHash,
  version: v.optional(described(count, `The version of the agent that got this prompt. ${unknownBefore}.`)),
  createdAt: v.optional(described(Timestamp, `Time at which the agent got this prompt. ${unknownBefore}.`)),
  source: v.optional(
    described(
      PromptSource,
      `What gave the agent this prompt: its creation, an update, a self-improvement pass, or the restoration of a former prompt. ${unknownBefore}.`,
    ),
  ),
  changesSummary: v.optional(
    described(v.string(), 'What changed; only present for the sources `self-improve` and `restore`.'),
  ),
});
export type PromptListItem = v.InferOutput<typeof PromptListItem>;

/** A system prompt of an agent with its text. */
export const Prompt = v.object({
  ...PromptListItem.entries,
  systemPrompt: described(v.string(), 'The text of the prompt.'),
});
export type Prompt = v.InferOutput<typeof Prompt>;

const examplePrompt = {
  hash: examples.promptHash,
  version: 1,
  createdAt: examples.hired,
  source: 'create',
} as const;

const exampleParams = { name: examples.agentName, hash: examples.promptHash };

export const listPrompts = endpoint({
  method: 'GET',
  path: '/api/agents/:name/prompts',
  scope: 'agents:read',
  summary: 'List prompts of an agent',
  params: { name: AgentName },
  query: v.object(pageQuery),
  status: 200,
  data: PromptListItem,
  paged: true,
});

export const listPromptsReference = (): ApiReference<typeof listPrompts> => ({
  description:
    'Returns the current and all former system prompts of the agent, newest first, without their texts. A prompt that the agent got several times has an entry for each time. Changes of other fields have no entry.',
  params: { name: exampleParams.name },
  data: [examplePrompt],
});

export const getPrompt = endpoint({
  method: 'GET',
  path: '/api/agents/:name/prompts/:hash',
  scope: 'agents:read',
  summary: 'Get a prompt of an agent',
  params: { name: AgentName, hash: PromptHash },
  status: 200,
  data: Prompt,
  servedBy: 'listPrompts',
});

export const getPromptReference = (): ApiReference<typeof getPrompt> => ({
  description:
    'Returns a current or former system prompt of the agent with its text. The other fields are those of its newest entry in the list. `previousPromptHash` and `newPromptHash` of a self-improvement pass, and `promptHash` of an execution, are valid hashes.',
  params: exampleParams,
  data: { ...examplePrompt, systemPrompt: examples.systemPrompt },
});

export const restorePrompt = endpoint({
  method: 'POST',
  path: '/api/agents/:name/prompts/:hash/restore',
  scope: 'agents:write',
  summary: 'Restore a prompt of an agent',
  params: { name: AgentName, hash: PromptHash },
  status: 200,
  data: Agent,
  versioned: true,
});

export const restorePromptReference = (): ApiReference<typeof restorePrompt> => ({
  description: `Makes a former system prompt the current one, and returns the updated agent. Changes no other field. Restoring the current prompt changes nothing. ${needsToolScopes}`,
  params: exampleParams,
  data: { ...exampleAgent, updatedAt: examples.started },
});

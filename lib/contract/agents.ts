import * as v from 'valibot';
import { endpoint } from './endpoint.ts';
import { AgentName, described, id, listOf, oneOf, pageQuery, Timestamp, text } from './shapes.ts';
import { Skill, SkillId } from './skills.ts';

export const AgentId = id('ag', 'an agent');

const agentCategories = ['business', 'development', 'qa', 'research', 'operations', 'specialized'] as const;
export const AgentCategory = oneOf(agentCategories);

const agentStatuses = ['active', 'inactive', 'draft'] as const;
export const AgentStatus = oneOf(agentStatuses);

/** Names that would shadow a route below `/api/agents`. */
export const reservedNames: readonly string[] = ['executions', 'skills'];

const displayName = described(text(1, 200), 'Name for people.');
const description = described(text(0, 10_000), 'What the agent is for.');
/** A model as Bedrock knows it: an id or an inference profile. */
export const ModelName = described(
  text(1, 256),
  "Id of the LLM, as Amazon Bedrock knows it; the organization's default if unset. A deployment may allow only some models.",
);
const systemPrompt = described(text(0, 50_000), 'What the agent is to do, and how. Self-improvement rewrites it.');
const soul = described(
  text(0, 50_000),
  'Who the agent is: values, communication style, constraints. Nothing but a caller changes it.',
);
const capabilities = described(listOf(text(1, 64), { max: 50 }), 'Identifiers of what the agent can do.');
const status = described(AgentStatus, 'Only an active agent is executed or delegated to.');

/** The body of `createAgent`. Without a model it is given its organization's default of that moment. */
export const NewAgent = v.object({
  name: AgentName,
  displayName,
  description: v.optional(description),
  category: AgentCategory,
  model: v.optional(ModelName),
  systemPrompt: v.optional(systemPrompt, ''),
  soul: v.optional(soul, ''),
  capabilities: v.optional(capabilities, []),
  status: v.optional(status, 'active'),
});
export type NewAgent = v.InferOutput<typeof NewAgent>;

/**
 * The body of `updateAgent`. `null` clears the description, empties the prompt or the soul, and writes the
 * organization's default model of that moment.
 */
export const AgentPatch = v.object({
  displayName: v.optional(displayName),
  description: v.nullish(description),
  category: v.optional(AgentCategory),
  model: v.nullish(ModelName),
  systemPrompt: v.nullish(systemPrompt),
  soul: v.nullish(soul),
  capabilities: v.optional(capabilities),
  status: v.optional(status),
});
export type AgentPatch = v.InferOutput<typeof AgentPatch>;

/** The body of `updateSoul`. */
export const SoulUpdate = v.object({ soul });

/** An agent as the single read and every change show it. */
export const Agent = v.object({
  id: AgentId,
  name: AgentName,
  displayName: v.string(),
  description: v.optional(v.string()),
  category: AgentCategory,
  model: v.string(),
  systemPrompt: v.string(),
  soul: v.string(),
  capabilities: v.array(v.string()),
  status: AgentStatus,
  isSystem: described(v.boolean(), 'Whether it came with the organization; such an agent cannot be deleted.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Agent = v.InferOutput<typeof Agent>;

/** An agent as the list shows it: these fields only, as specified. */
export const AgentListItem = v.pick(Agent, [
  'id',
  'name',
  'displayName',
  'description',
  'category',
  'model',
  'status',
  'capabilities',
  'createdAt',
]);
export type AgentListItem = v.InferOutput<typeof AgentListItem>;

/** The answer to a create: these four fields only, as specified. */
export const AgentCreated = v.pick(Agent, ['id', 'name', 'displayName', 'createdAt']);

/** The query of `listAgents`. */
const AgentQuery = v.object({
  category: v.optional(described(AgentCategory, 'Only agents of this category.')),
  status: v.optional(described(AgentStatus, 'Only agents of this status.')),
  search: v.optional(
    described(text(1, 200), 'Only agents in whose name, displayName and description all of these words begin a word.'),
  ),
  ...pageQuery,
});
export type AgentFilter = Omit<v.InferOutput<typeof AgentQuery>, 'limit' | 'offset'>;

/** A skill as an agent has it. */
export const AssignedSkill = v.object({ ...Skill.entries, assignedAt: Timestamp });
export type AssignedSkill = v.InferOutput<typeof AssignedSkill>;

/** The body of `assignSkill`. */
export const SkillAssignment = v.object({ skillId: SkillId });

export const listAgents = endpoint({
  method: 'GET',
  path: '/api/agents',
  scope: 'agents:read',
  summary: 'List the agents, newest first',
  query: AgentQuery,
  status: 200,
  data: AgentListItem,
  paged: true,
});

export const createAgent = endpoint({
  method: 'POST',
  path: '/api/agents',
  scope: 'agents:write',
  summary: 'Create an agent',
  body: NewAgent,
  status: 201,
  resource: Agent,
  data: AgentCreated,
  refuses: ['reserved_name', 'name_taken'],
});

export const getAgent = endpoint({
  method: 'GET',
  path: '/api/agents/:name',
  scope: 'agents:read',
  summary: 'Read an agent, its prompt and its soul',
  params: { name: AgentName },
  status: 200,
  data: Agent,
  versioned: true,
});

export const updateAgent = endpoint({
  method: 'PATCH',
  path: '/api/agents/:name',
  scope: 'agents:write',
  summary: 'Change an agent',
  params: { name: AgentName },
  body: AgentPatch,
  status: 200,
  data: Agent,
  versioned: true,
});

export const deleteAgent = endpoint({
  method: 'DELETE',
  path: '/api/agents/:name',
  scope: 'agents:write',
  summary: 'Delete an agent and its history for good',
  params: { name: AgentName },
  status: 200,
  versioned: true,
  refuses: ['system_agent'],
});

export const listSkills = endpoint({
  method: 'GET',
  path: '/api/agents/:name/skills',
  scope: 'agents:read',
  summary: 'List the skills of an agent, in the order in which they were assigned',
  params: { name: AgentName },
  status: 200,
  data: v.array(AssignedSkill),
});

export const assignSkill = endpoint({
  method: 'POST',
  path: '/api/agents/:name/skills',
  scope: 'agents:write',
  summary: 'Assign a skill of the catalogue to an agent',
  params: { name: AgentName },
  body: SkillAssignment,
  status: 201,
});

export const unassignSkill = endpoint({
  method: 'DELETE',
  path: '/api/agents/:name/skills/:skillId',
  scope: 'agents:write',
  summary: 'Take a skill from an agent',
  params: { name: AgentName, skillId: SkillId },
  status: 200,
});

export const updateSoul = endpoint({
  method: 'PATCH',
  path: '/api/agents/:name/soul',
  scope: 'agents:write',
  summary: 'Give an agent another soul',
  params: { name: AgentName },
  body: SoulUpdate,
  status: 200,
  data: Agent,
  versioned: true,
});

import * as v from 'valibot';
import { endpoint } from './endpoint.ts';
import { AgentName, id, listOf, oneOf, pageQuery, Timestamp, text } from './shapes.ts';
import { SkillId } from './skills.ts';

export const AgentId = id('ag');

const agentCategories = ['business', 'development', 'qa', 'research', 'operations', 'specialized'] as const;
const AgentCategory = oneOf(agentCategories);

const agentStatuses = ['active', 'inactive', 'draft'] as const;
const AgentStatus = oneOf(agentStatuses);

/** Names that would shadow a route below `/api/agents`. */
export const reservedNames: readonly string[] = ['executions', 'skills'];

const displayName = text(1, 200);
const description = text(0, 10_000);
const model = text(1, 256);
const systemPrompt = text(0, 50_000);
const soul = text(0, 50_000);
const capabilities = listOf(text(1, 64), { max: 50 });

/** The body of `createAgent`. Without a model it is given the default one of that moment. */
export const NewAgent = v.object({
  name: AgentName,
  displayName,
  description: v.optional(description),
  category: AgentCategory,
  model: v.optional(model),
  systemPrompt: v.optional(systemPrompt, ''),
  soul: v.optional(soul, ''),
  capabilities: v.optional(capabilities, []),
  status: v.optional(AgentStatus, 'active'),
});
export type NewAgent = v.InferOutput<typeof NewAgent>;

/**
 * The body of `updateAgent`. `null` clears the description, empties the prompt or the soul, and writes the default
 * model of that moment.
 */
export const AgentPatch = v.object({
  displayName: v.optional(displayName),
  description: v.nullish(description),
  category: v.optional(AgentCategory),
  model: v.nullish(model),
  systemPrompt: v.nullish(systemPrompt),
  soul: v.nullish(soul),
  capabilities: v.optional(capabilities),
  status: v.optional(AgentStatus),
});
export type AgentPatch = v.InferOutput<typeof AgentPatch>;

/** The body of `updateSoul`. */
const SoulUpdate = v.object({ soul });

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
  isSystem: v.boolean(),
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
const AgentCreated = v.pick(Agent, ['id', 'name', 'displayName', 'createdAt']);

/** The query of `listAgents`. */
const AgentQuery = v.object({
  category: v.optional(AgentCategory),
  status: v.optional(AgentStatus),
  search: v.optional(text(1, 200)),
  ...pageQuery,
});
export type AgentFilter = Omit<v.InferOutput<typeof AgentQuery>, 'limit' | 'offset'>;

/** A skill as an agent has it. */
const AssignedSkill = v.object({ id: SkillId, name: v.string(), description: v.string(), assignedAt: Timestamp });
export type AssignedSkill = v.InferOutput<typeof AssignedSkill>;

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
  body: v.object({ skillId: SkillId }),
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

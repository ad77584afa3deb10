import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import * as examples from './examples.ts';
import { AgentName, described, id, listOf, oneOf, pageQuery, Timestamp, text } from './shapes.ts';
import { exampleSkill, Skill, SkillId } from './skills.ts';

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

const exampleAgent = {
  id: examples.agentId,
  name: examples.agentName,
  displayName: 'Builder',
  description: 'Builds web pages from drawings.',
  category: 'development',
  model: examples.model,
  systemPrompt: 'You build web pages. Answer with the whole page, in HTML and CSS alone.',
  soul: 'You are careful, and say so when you are not sure.',
  capabilities: ['html', 'css'],
  status: 'active',
  isSystem: false,
  createdAt: examples.hired,
  updatedAt: examples.hired,
} as const;

function exampleAgentListItem() {
  const { systemPrompt: _, soul: __, isSystem: ___, updatedAt: ____, ...listed } = exampleAgent;
  return listed;
}

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

export const listAgentsReference = (): ApiReference<typeof listAgents> => ({
  description:
    'The agents of the organization, without their prompts and souls. `search` ignores case; all of its words must be found, each at the beginning of a word.',
  data: [exampleAgentListItem()],
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
  errors: ['reserved_name', 'name_taken'],
});

export const createAgentReference = (): ApiReference<typeof createAgent> => ({
  description:
    "The answer has four fields; read the agent for the others. Without a `model` the organization's default is written into the agent: a later change of the default leaves it as it is.",
  body: {
    name: exampleAgent.name,
    displayName: exampleAgent.displayName,
    description: exampleAgent.description,
    category: exampleAgent.category,
    systemPrompt: exampleAgent.systemPrompt,
    soul: exampleAgent.soul,
    capabilities: exampleAgent.capabilities,
  },
  data: {
    id: exampleAgent.id,
    name: exampleAgent.name,
    displayName: exampleAgent.displayName,
    createdAt: exampleAgent.createdAt,
  },
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

export const getAgentReference = (): ApiReference<typeof getAgent> => ({
  description: 'The whole agent, with its system prompt and its soul.',
  data: exampleAgent,
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

export const updateAgentReference = (): ApiReference<typeof updateAgent> => ({
  description:
    'Changes the fields that are sent, and no others. `null` clears `description`, empties `systemPrompt` or `soul`, and sets `model` to the default of this moment. The name is for good. Set `inactive`, an agent is not executed or delegated to, and keeps all it has.',
  body: { status: 'inactive' },
  data: { ...exampleAgent, status: 'inactive', updatedAt: examples.started },
});

export const deleteAgent = endpoint({
  method: 'DELETE',
  path: '/api/agents/:name',
  scope: 'agents:write',
  summary: 'Delete an agent and its history for good',
  params: { name: AgentName },
  status: 200,
  versioned: true,
  errors: ['system_agent'],
});

export const deleteAgentReference = (): ApiReference<typeof deleteAgent> => ({
  description:
    'With the answer the agent, its executions and its metrics are gone from every read. Its tasks keep its name. What it is running ends without a record or an event, and its task goes back to `assigned`. A new agent of the same name starts with nothing of it.',
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

export const listSkillsReference = (): ApiReference<typeof listSkills> => ({
  description: 'All of them; the list is not paged.',
  data: [{ ...exampleSkill, assignedAt: examples.hired }],
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

export const assignSkillReference = (): ApiReference<typeof assignSkill> => ({
  description:
    'The skill is told to the agent in all that it does from then on. A skill that it has already stays as it is, and is answered 201 too. What can be assigned: `GET /api/agents/skills`.',
  body: { skillId: exampleSkill.id },
});

export const unassignSkill = endpoint({
  method: 'DELETE',
  path: '/api/agents/:name/skills/:skillId',
  scope: 'agents:write',
  summary: 'Take a skill from an agent',
  params: { name: AgentName, skillId: SkillId },
  status: 200,
});

export const unassignSkillReference = (): ApiReference<typeof unassignSkill> => ({
  description: 'The agent is told nothing of it from then on.',
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

export const updateSoulReference = (): ApiReference<typeof updateSoul> => ({
  description: 'Replaces the soul as a whole, and answers the agent as a read does.',
  body: { soul: 'You are bold, and say so when you are not sure.' },
  data: {
    ...exampleAgent,
    soul: 'You are bold, and say so when you are not sure.',
    updatedAt: examples.started,
  },
});

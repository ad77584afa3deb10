import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import {
  AgentName,
  described,
  flag,
  grouped,
  id,
  label,
  listOf,
  oneOf,
  pageQuery,
  Timestamp,
  text,
} from '../shapes.ts';
import { exampleSkill, Skill, SkillId } from './skills.ts';
import { highestConduct, standardConduct } from './standard-conduct.ts';
import { highestStepLimits } from './step-limits.ts';

const AgentId = id('ag', 'an agent');

const agentCategories = ['business', 'development', 'qa', 'research', 'operations', 'specialized'] as const;
export const AgentCategory = oneOf(agentCategories);

const agentStatuses = ['active', 'inactive', 'draft'] as const;
export const AgentStatus = oneOf(agentStatuses);

/** Names that agents cannot have, since each is a static path segment below `/api/agents`. */
export const reservedNames: readonly string[] = ['executions', 'skills'];

const displayName = described(label(200), 'Human-readable name.');
const description = described(text(0, 10_000), 'Purpose of the agent.');
/** The id of a model or of an inference profile in Amazon Bedrock. */
export const ModelName = described(
  label(256),
  "Amazon Bedrock id of the LLM or of an inference profile. The default is the organization's default model. A deployment can restrict the allowed models.",
);
const systemPrompt = described(text(0, 50_000), 'Task-oriented instructions. Self-improvement can rewrite them.');
const soul = described(
  text(0, 50_000),
  'Core identity: values, communication style and constraints. Self-improvement does not change it.',
);

/** The capabilities that grant tools. */
export const toolCapabilities = ['tasks.read', 'tasks.write', 'delegate', 'skills'] as const;
export type ToolCapability = (typeof toolCapabilities)[number];

const plain = (capability: string) => capability.toLowerCase().replaceAll(/[\s._:/\\-]/g, '');

/** Returns the capability with tools that another spelling means; `undefined` for the right spelling and for labels. */
function misspelled(capability: string): ToolCapability | undefined {
  const meant = toolCapabilities.find((one) => plain(one) === plain(capability));
  return meant === capability ? undefined : meant;
}

/** A capability. Another spelling of one that grants tools would be a label, and the agent would have no tools. */
const Capability = v.pipe(
  label(64),
  v.check(
    (capability) => misspelled(capability) === undefined,
    ({ input }) => `must be spelled ${misspelled(input)}`,
  ),
);

const capabilities = described(
  listOf(Capability, { max: 50 }),
  `Identifiers of the capabilities of the agent. ${toolCapabilities.map((one) => `\`${one}\``).join(', ')} let its model call tools; others are labels.`,
);

/** Returns the schema of a whole number. */
const wholeNumber = (least: number, highest: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(highest, `must be at most ${grouped(highest)}`),
  );

/** Returns the schema of a lower limit of executions. */
const lowerLimit = (highest: number) => wholeNumber(1, highest);

const maxSteps = described(
  lowerLimit(highestStepLimits.steps),
  "Maximum number of model and tool calls of an execution, if below the deployment's.",
);
const maxTokens = described(
  lowerLimit(highestStepLimits.tokens),
  "Tokens after which an execution calls the model no more, if below the deployment's.",
);
const conduct = {
  autoRun: described(
    flag,
    'The service starts executions on the ready tasks of the agent. Setting it needs `agents:execute`.',
  ),
  maxRunning: described(
    wholeNumber(1, highestConduct.maxRunning),
    'With this many running executions, the service starts no further one.',
  ),
  autoRetry: described(
    wholeNumber(0, highestConduct.autoRetry),
    'How often the service starts again on a task after a failure.',
  ),
  autoAccept: described(
    flag,
    'A task goes to `done`, not to `up_for_review`, if both quality gates passed. Setting it needs `tasks:write`.',
  ),
  dependencyResults: described(flag, 'Executions get the outputs of finished dependencies.'),
};

const status = described(AgentStatus, 'Only an `active` agent can be executed or delegated to.');

/** The body of `createAgent`. Without a model, the agent gets the organization's current default model. */
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
  maxSteps: v.optional(maxSteps),
  maxTokens: v.optional(maxTokens),
  autoRun: v.optional(conduct.autoRun, standardConduct.autoRun),
  maxRunning: v.optional(conduct.maxRunning, standardConduct.maxRunning),
  autoRetry: v.optional(conduct.autoRetry, standardConduct.autoRetry),
  autoAccept: v.optional(conduct.autoAccept, standardConduct.autoAccept),
  dependencyResults: v.optional(conduct.dependencyResults, standardConduct.dependencyResults),
});
export type NewAgent = v.InferOutput<typeof NewAgent>;

/**
 * The body of `updateAgent`. `null` clears the description and the limits of executions, empties the system prompt or the soul, and sets the model
 * to the organization's current default model.
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
  maxSteps: v.nullish(maxSteps),
  maxTokens: v.nullish(maxTokens),
  autoRun: v.optional(conduct.autoRun),
  maxRunning: v.optional(conduct.maxRunning),
  autoRetry: v.optional(conduct.autoRetry),
  autoAccept: v.optional(conduct.autoAccept),
  dependencyResults: v.optional(conduct.dependencyResults),
});
export type AgentPatch = v.InferOutput<typeof AgentPatch>;

/** The body of `updateSoul`. */
export const SoulUpdate = v.object({ soul });

/** An agent as reads of one agent and updates return it. */
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
  maxSteps: v.optional(maxSteps),
  maxTokens: v.optional(maxTokens),
  ...conduct,
  isSystem: described(
    v.boolean(),
    'Whether this is a system agent, created with the organization. System agents cannot be deleted.',
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Agent = v.InferOutput<typeof Agent>;

/** An agent as lists return it. */
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

/** The data that `createAgent` returns. */
export const AgentCreated = v.pick(Agent, ['id', 'name', 'displayName', 'createdAt']);

/** The query of `listAgents`. */
const AgentQuery = v.object({
  category: v.optional(described(AgentCategory, 'Return only agents of this category.')),
  status: v.optional(described(AgentStatus, 'Return only agents with this status.')),
  search: v.optional(
    v.pipe(
      text(1, 200),
      v.description(
        'Search words. Return only agents where each search word is the beginning of a word in name, displayName or description. In scripts without spaces, such as Chinese, Japanese and Thai, it can begin anywhere.',
      ),
      v.examples(['web pages']),
    ),
  ),
  ...pageQuery,
});
export type AgentFilter = Omit<v.InferOutput<typeof AgentQuery>, 'limit' | 'offset'>;

/** A skill that is assigned to an agent. */
export const AssignedSkill = v.object({ ...Skill.entries, assignedAt: Timestamp });
export type AssignedSkill = v.InferOutput<typeof AssignedSkill>;

/** The body of `assignSkill`. */
export const SkillAssignment = v.object({ skillId: SkillId });

/** The agent of the examples. */
export const exampleAgent = {
  id: examples.agentId,
  name: examples.agentName,
  displayName: 'Builder',
  description: 'Builds web pages from drawings.',
  category: 'development',
  model: examples.model,
  systemPrompt: examples.systemPrompt,
  soul: 'You are careful, and say so when you are not sure.',
  capabilities: ['html', 'css'],
  status: 'active',
  ...standardConduct,
  isSystem: false,
  createdAt: examples.hired,
  updatedAt: examples.hired,
} as const;

const exampleSystemAgent = {
  id: examples.systemAgentId,
  name: examples.systemAgentName,
  displayName: 'QA reviewer',
  description: 'Judges the output of other agents before their work goes on.',
  category: 'qa',
  model: examples.model,
  systemPrompt: 'You review the work of other agents.',
  soul: '',
  capabilities: [],
  status: 'active',
  ...standardConduct,
  isSystem: true,
  createdAt: examples.founded,
  updatedAt: examples.founded,
} as const;

/** What the descriptions of the endpoints say that decide what an agent does with its tools. */
export const needsToolScopes = 'For an agent with tools, the access token also needs the scopes of these tools.';

function exampleAgentListItem() {
  const { id, name, displayName, description, category, model, status, capabilities, createdAt } = exampleAgent;
  return { id, name, displayName, description, category, model, status, capabilities, createdAt };
}

export const listAgents = endpoint({
  method: 'GET',
  path: '/api/agents',
  scope: 'agents:read',
  summary: 'List agents',
  query: AgentQuery,
  status: 200,
  data: AgentListItem,
  paged: true,
});

export const listAgentsReference = (): ApiReference<typeof listAgents> => ({
  description:
    'Returns the agents of the organization, newest first, without system prompts and souls. `search` ignores case; an agent matches if each search word is the beginning of one of its words.',
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
  description: `Creates an agent. The response has four fields; get the agent for the others. Without a \`model\`, the agent gets the organization's current default model; a later change of the default does not change the agent. ${needsToolScopes}`,
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
  summary: 'Get an agent',
  params: { name: AgentName },
  status: 200,
  data: Agent,
  versioned: true,
});

export const getAgentReference = (): ApiReference<typeof getAgent> => ({
  description: 'Returns the agent with its system prompt and its soul.',
  params: { name: examples.systemAgentName },
  data: exampleSystemAgent,
});

export const updateAgent = endpoint({
  method: 'PATCH',
  path: '/api/agents/:name',
  scope: 'agents:write',
  summary: 'Update an agent',
  params: { name: AgentName },
  body: AgentPatch,
  status: 200,
  data: Agent,
  versioned: true,
});

export const updateAgentReference = (): ApiReference<typeof updateAgent> => ({
  description:
    'Changes only the fields in the request. `null` clears `description`, empties `systemPrompt` or `soul`, and sets `model` to the current default model. The name cannot change. An `inactive` agent cannot be executed or delegated to, and keeps all its data. To change `capabilities`, `systemPrompt`, `soul` or `model` of an agent with tools, the access token also needs the scopes of these tools, before and after the change.',
  body: { description: 'Builds web pages from drawings, also for phones.' },
  furtherBodies: { 'Set it inactive': { status: 'inactive' } },
  data: {
    ...exampleAgent,
    description: 'Builds web pages from drawings, also for phones.',
    updatedAt: examples.started,
  },
});

export const deleteAgent = endpoint({
  method: 'DELETE',
  path: '/api/agents/:name',
  scope: 'agents:write',
  summary: 'Delete an agent',
  params: { name: AgentName },
  status: 200,
  versioned: true,
  errors: ['system_agent'],
});

export const deleteAgentReference = (): ApiReference<typeof deleteAgent> => ({
  description:
    'Permanently deletes the agent and its execution history. After the response, no read returns the agent, its executions or its metrics. The metrics of all executions keep its numbers. Its tasks keep its name. Its running executions end without a record and without an event, and their tasks return to `assigned`. A new agent with the same name starts without any of this data.',
});

export const listSkills = endpoint({
  method: 'GET',
  path: '/api/agents/:name/skills',
  scope: 'agents:read',
  summary: 'List skills of an agent',
  params: { name: AgentName },
  status: 200,
  data: v.array(AssignedSkill),
});

export const listSkillsReference = (): ApiReference<typeof listSkills> => ({
  description: 'Returns all skills of the agent, in the order of assignment. The list is not paged.',
  params: { name: examples.systemAgentName },
  data: [{ ...exampleSkill, assignedAt: examples.hired }],
});

export const assignSkill = endpoint({
  method: 'POST',
  path: '/api/agents/:name/skills',
  scope: 'agents:write',
  summary: 'Assign a skill',
  params: { name: AgentName },
  body: SkillAssignment,
  status: 201,
});

export const assignSkillReference = (): ApiReference<typeof assignSkill> => ({
  description: `Assigns a skill of the catalogue to the agent. Later calls to the agent's model include the skill. If the agent already has the skill, nothing changes and the status is 201 as well. \`GET /api/agents/skills\` lists the skills that can be assigned. ${needsToolScopes}`,
  body: { skillId: exampleSkill.id },
});

export const unassignSkill = endpoint({
  method: 'DELETE',
  path: '/api/agents/:name/skills/:skillId',
  scope: 'agents:write',
  summary: 'Unassign a skill',
  params: { name: AgentName, skillId: SkillId },
  status: 200,
  servedBy: 'assignSkill',
});

export const unassignSkillReference = (): ApiReference<typeof unassignSkill> => ({
  description: `Removes the skill from the agent. Later calls to the agent's model no longer include it. ${needsToolScopes}`,
});

export const updateSoul = endpoint({
  method: 'PATCH',
  path: '/api/agents/:name/soul',
  scope: 'agents:write',
  summary: 'Update the soul of an agent',
  params: { name: AgentName },
  body: SoulUpdate,
  status: 200,
  data: Agent,
  versioned: true,
});

export const updateSoulReference = (): ApiReference<typeof updateSoul> => ({
  description: `Replaces the whole soul and returns the updated agent. ${needsToolScopes}`,
  body: { soul: 'You are bold, and say so when you are not sure.' },
  data: {
    ...exampleAgent,
    soul: 'You are bold, and say so when you are not sure.',
    updatedAt: examples.started,
  },
});

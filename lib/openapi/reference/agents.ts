import type * as metricsRows from '../../contract/agent-metrics.ts';
import type * as rows from '../../contract/agents.ts';
import type * as skillRows from '../../contract/skills.ts';
import type { ReferenceOf } from './row.ts';
import { story } from './story.ts';

const agent = {
  id: story.agentId,
  name: story.agentName,
  displayName: 'Builder',
  description: 'Builds web pages from drawings.',
  category: 'development',
  model: story.model,
  systemPrompt: 'You build web pages. Answer with the whole page, in HTML and CSS alone.',
  soul: 'You are careful, and say so when you are not sure.',
  capabilities: ['html', 'css'],
  status: 'active',
  isSystem: false,
  createdAt: story.hired,
  updatedAt: story.hired,
} as const;

const { systemPrompt, soul, isSystem: _, updatedAt: __, ...listed } = agent;

const skill = {
  id: story.skillId,
  name: 'code-review',
  description: 'Reviews a change for bugs, unclear names and missing tests, and says what to do about each.',
} as const;

/** The words and examples for the rows of agents, their skills and their metrics. */
export const agents = {
  listAgents: {
    description:
      'The agents of the organization, without their prompts and souls. `search` ignores case; all of its words must be found, each at the beginning of a word.',
    data: [listed],
  },
  createAgent: {
    description:
      "The answer has four fields; read the agent for the others. Without a `model` the organization's default is written into the agent: a later change of the default leaves it as it is.",
    body: {
      name: agent.name,
      displayName: agent.displayName,
      description: agent.description,
      category: agent.category,
      systemPrompt,
      soul,
      capabilities: agent.capabilities,
    },
    data: { id: agent.id, name: agent.name, displayName: agent.displayName, createdAt: agent.createdAt },
  },
  getAgent: {
    description: 'The whole agent, with its system prompt and its soul.',
    data: agent,
  },
  updateAgent: {
    description:
      'Changes the fields that are sent, and no others. `null` clears `description`, empties `systemPrompt` or `soul`, and sets `model` to the default of this moment. The name is for good. Set `inactive`, an agent is not executed or delegated to, and keeps all it has.',
    body: { status: 'inactive' },
    data: { ...agent, status: 'inactive', updatedAt: story.started },
  },
  deleteAgent: {
    description:
      'With the answer the agent, its executions and its metrics are gone from every read. Its tasks keep its name. What it is running ends without a record or an event, and its task goes back to `assigned`. A new agent of the same name starts with nothing of it.',
  },
  listSkills: {
    description: 'All of them; the list is not paged.',
    data: [{ ...skill, assignedAt: story.hired }],
  },
  assignSkill: {
    description:
      'The skill is told to the agent in all that it does from then on. A skill that it has already stays as it is, and is answered 201 too. What can be assigned: `GET /api/agents/skills`.',
    body: { skillId: skill.id },
  },
  unassignSkill: { description: 'The agent is told nothing of it from then on.' },
  updateSoul: {
    description: 'Replaces the soul as a whole, and answers the agent as a read does.',
    body: { soul: 'You are bold, and say so when you are not sure.' },
    data: {
      ...agent,
      soul: 'You are bold, and say so when you are not sure.',
      updatedAt: story.started,
    },
  },
  listSkillCatalogue: {
    description: 'The skills of this deployment. Every organization can assign them to its agents.',
    data: [skill],
  },
  getMetrics: {
    description:
      'Executions count on the day, in UTC, on which they started. Averages and percentiles are over those that have ended, failed ones too.',
    data: {
      agentName: agent.name,
      period: '30d',
      executions: { total: 42, completed: 38, failed: 3, running: 1, successRate: 0.9268 },
      performance: { avgDurationMs: 39_512, p50DurationMs: 37_204, p95DurationMs: 81_377 },
      tokens: { total: 131_980, avgPerExecution: 3_219 },
    },
  },
} as const satisfies ReferenceOf<typeof rows & typeof skillRows & typeof metricsRows>;

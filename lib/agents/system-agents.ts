import type { StoredAgent } from '../table/agents.ts';

/** What every organization starts with: listed and editable like any agent, but not deletable (design §2). */
const systemAgents = [
  {
    name: 'qa-reviewer',
    displayName: 'QA reviewer',
    description: 'Judges the output of other agents before their work goes on.',
    category: 'qa',
  },
  {
    name: 'prompt-improver',
    displayName: 'Prompt improver',
    description: 'Proposes edits to the prompts of agents from their recent executions.',
    category: 'operations',
  },
];

/** The system agents of a new organization. */
export function newSystemAgents(ulid: () => string, now: string): StoredAgent[] {
  return systemAgents.map((agent) => ({
    id: `ag_${ulid()}`,
    ...agent,
    status: 'active',
    isSystem: true,
    version: 1,
    updatedAt: now,
  }));
}

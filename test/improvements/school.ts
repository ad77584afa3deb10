import { createAgent } from '../../lib/agents/agents.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { NewImprovement } from '../../lib/contract/improvements.ts';
import { selfImproveAgent } from '../../lib/improvements/improvements.ts';
import type { Question } from '../../lib/model/converse.ts';
import type { StoredAgent } from '../../lib/table/agent-items.ts';
import { readAgent, readPrompt, readPromptChanges } from '../../lib/table/agents.ts';
import type { Table } from '../../lib/table/client.ts';
import { endExecution } from '../../lib/table/executions.ts';
import type { RecordResponse } from '../../lib/table/idempotency.ts';
import { keys } from '../../lib/table/keys.ts';
import { getItem } from '../../lib/table/reads.ts';
import { createTestExecutions } from '../executions/test-executions.ts';
import { learningModel, type Says, type Step, usual } from './learning-model.ts';

/** What is said of a pass. */
type Asked = {
  says?: Partial<Record<Step, Says>>;
  once?: RecordResponse;
  through?: Table;
  body?: Partial<NewImprovement>;
};

/**
 * Opens a school, where agents learn: a workshop, and self-improvement by the functions of the service. Its clock stands
 * still.
 */
export async function openSchool() {
  const workshop = await createTestExecutions({ cap: 1_000 });
  const { organization, table, clock, timeline, app } = workshop;
  let pupils = 0;

  const school = {
    ...workshop,
    /** Creates an agent of the name. */
    create: (name: string, systemPrompt = 'Write.') =>
      createAgent(
        app,
        organization,
        {
          name,
          displayName: name,
          category: 'qa',
          model: 'm',
          systemPrompt,
          soul: 'Calm.',
          capabilities: [],
          status: 'active',
        },
        undefined,
      ),

    /** Has an agent finish an execution that does not pass the review. */
    async work(name: string): Promise<void> {
      const execution = await workshop.leased({}, name);
      const ending = { status: 'completed', completedAt: timestamp(clock()), durationMs: 1, tokensUsed: 1 } as const;
      await endExecution(
        workshop.context,
        execution,
        { ...ending, selfTest: 'passed', qaReview: 'failed' },
        { output: 'Done.' },
      );
    },

    /** An agent that has something to learn; its name. */
    async pupil(): Promise<string> {
      const name = `pupil-${++pupils}`;
      await school.create(name);
      await school.work(name);
      return name;
    },

    /** Has an agent make a pass, by a model that learns unless it says something else. */
    async improve(name: string, { says, once, through = table, body }: Asked = {}) {
      const { tools, asked } = learningModel(says);
      const fields = { lookbackExecutions: 20, ...body };
      const context = { ...timeline, table: through, defaultModel: 'm', preparedAgents: new Map() };
      const answer = await selfImproveAgent(context, organization, name, fields, tools, once);
      return { answer, asked };
    },

    agent: async (name: string): Promise<StoredAgent> => (await readAgent(app, organization, name)) as StoredAgent,

    /** The prompts that an agent has had, the first first: each with why and by whom it has come. */
    async promptsOf({ id }: { id: string }) {
      const changes = await readPromptChanges(app, organization, id);
      const had = changes.toReversed().map(async (change) => ({
        ...change,
        prompt: await readPrompt(app, organization, id, change.promptHash),
      }));
      return Promise.all(had);
    },

    /** Whether an agent is in a pass. */
    isLocked: async ({ id }: { id: string }) =>
      (await getItem(table, keys.improvement(organization, ulidOf(id)))) !== undefined,
  };
  return school;
}

/** Judges fairly; something else happens before the first choice. */
export function meanwhile(happens: () => Promise<unknown>): Partial<Record<Step, Says>> {
  let happened: Promise<unknown> | undefined;
  const choice = async (question: Question) => {
    happened ??= happens();
    await happened;
    return usual.choice(question);
  };
  return { choice };
}

import { ulid } from 'ulid';
import type { NewImprovement } from '../../lib/contract/agents/improvements.ts';
import { scopes as allScopes, type Scope } from '../../lib/contract/endpoint.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import { selfImproveAgent } from '../../lib/improvements/improvements.ts';
import type { Question } from '../../lib/model/converse.ts';
import type { Table } from '../../lib/table/access/client.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import { readAgent } from '../../lib/table/agents/agents.ts';
import { readPrompt, readPromptChanges } from '../../lib/table/agents/prompts.ts';
import { endExecution } from '../../lib/table/executions/executions.ts';
import type { StartContext } from '../../lib/table/executions/running.ts';
import type { RecordResponse } from '../../lib/table/idempotency.ts';
import { createTestExecutions } from '../executions/test-executions.ts';
import { completed } from '../table/executions/execution-table.ts';
import { learningModel, type Script, usual } from './learning-model.ts';

/** The options of a pass. */
type PassOptions = {
  says?: Script;
  once?: RecordResponse;
  through?: Table;
  body?: Partial<NewImprovement>;
  /** The scopes of the caller; all by default. */
  scopes?: readonly Scope[];
  limits?: StartContext['limits'];
};

/** Creates a test service with executions and self-improvement. Its clock does not advance by itself. */
export async function createTestImprovements() {
  const executions = await createTestExecutions({ cap: 1_000 });
  const { organization, table, timeline, app } = executions;
  let agents = 0;

  const service = {
    ...executions,
    /** Creates an agent with a name. */
    create: (name: string) => executions.addAgent(name),

    /** Completes an execution of an agent with a failed review. */
    async runToFailedReview(name: string): Promise<void> {
      const execution = await executions.leased({}, name);
      await endExecution(executions.context, execution, completed({ qaReview: 'failed' }), { output: 'Done.' });
    },

    /** Creates an agent with an execution that failed its review, and returns the name. */
    async createReviewedAgent(): Promise<string> {
      const name = `agent-${++agents}`;
      await service.create(name);
      await service.runToFailedReview(name);
      return name;
    },

    /** Runs a pass for an agent. `says` replaces steps of the default model, which proposes a better prompt. */
    async improve(
      name: string,
      { says, once, through = table, body, scopes = allScopes, limits = {} }: PassOptions = {},
    ) {
      const { tools, asked } = learningModel(says);
      const fields = { lookbackExecutions: 20, ...body };
      const context = {
        ...timeline,
        ulid: () => ulid(timeline.clock()),
        table: through,
        defaultModel: 'm',
        preparedAgents: new Map(),
        ...{ runningCap: 1, limits, startMinutes: new Map() },
      };
      const answer = await selfImproveAgent(context, organization, name, fields, tools, once, scopes);
      return { answer, asked };
    },

    agent: async (name: string): Promise<StoredAgent> => (await readAgent(app, organization, name)) as StoredAgent,

    /** Returns the prompt changes of an agent with their prompts, oldest first. */
    async promptsOf({ id }: { id: string }) {
      const changes = (await readPromptChanges(app, organization, id)).toReversed();
      const prompts = changes.map(({ promptHash }) => readPrompt(app, organization, id, promptHash));
      return Promise.all(changes.map(async (change, nth) => ({ ...change, prompt: await prompts[nth] })));
    },

    /** Whether the improvement lease of an agent exists. */
    isLocked: async ({ id }: { id: string }) =>
      (await getItem(table, keys.improvement(organization, ulidOf(id)))) !== undefined,
  };
  return service;
}

/** Returns a model whose judge is fair. The first choice waits for `happens`. */
export function meanwhile(happens: () => Promise<unknown>): Script {
  let happened: Promise<unknown> | undefined;
  const choice = async (question: Question) => {
    happened ??= happens();
    await happened;
    return usual.choice(question);
  };
  return { choice };
}

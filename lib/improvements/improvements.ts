import { promptImprover, qaReviewer } from '../agents/system-agents.ts';
import { notFound } from '../contract/errors.ts';
import { timestamp } from '../contract/ids.ts';
import type { Improvement, NewImprovement } from '../contract/improvements.ts';
import type { Organization } from '../contract/organization.ts';
import type { Pause } from '../executions/asking.ts';
import type { Tools } from '../executions/work.ts';
import { hashOf, type StoredAgent } from '../table/agent-items.ts';
import { changeAgent, readAgent, readAgentHead } from '../table/agents.ts';
import type { ExecutionStore } from '../table/executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import type { ImprovementStore } from '../table/improvements.ts';
import { type PreparedAgent, type PreparingContext, readPreparedAgent } from '../table/prepared-agents.ts';
import { Conflict, transact } from '../table/transact.ts';
import type { Write } from '../table/write.ts';
import { evidenceOf } from './evidence.ts';
import { type Pass, pass } from './improvement-pass.ts';

/** What self-improvement is made of. */
export type ImprovementParts = {
  store: ImprovementStore;
  context: PreparingContext;
  executions: ExecutionStore;
  clock: () => number;
  pause: Pause;
};

/** An agent that changes all the time is not waited for longer. */
const triesOfChange = 5;

/**
 * Self-improvement: an agent's prompt is changed only for one that did better (docs/architecture.md#self-improvement).
 */
export function openImprovements({ store, context, executions, clock, pause }: ImprovementParts) {
  return {
    /**
     * Makes a pass, within 25 seconds: evidence, a proposal, old and new prompt on recent inputs, a blind choice. The
     * prompt is changed only if it is still the one that the pass began with; soul and skills never.
     *
     * @throws `ApiError` `not_found`, `improvement_in_progress`
     */
    async improve(
      organization: Organization,
      name: string,
      asked: NewImprovement,
      tools: Tools,
      recordResponse: RecordResponse,
    ): Promise<Improvement> {
      const startedAt = clock();
      const agent = await readAgentHead(context, organization, name);
      if (!agent) throw notFound();
      const end = await store.begin(organization, agent.id);
      try {
        const prepared = await readPreparedAgent(context, organization, name);
        if (prepared?.agent.id !== agent.id) throw notFound();
        const came = await passOf(organization, prepared, asked, tools, startedAt);
        return await conclude(organization, prepared.agent, came, recordResponse);
      } finally {
        // What cannot be ended now is over with its lease; the answer does not wait for it.
        await end().catch(() => {});
      }
    },
  };

  async function passOf(
    organization: Organization,
    prepared: PreparedAgent,
    { lookbackExecutions, focusArea }: NewImprovement,
    tools: Tools,
    startedAt: number,
  ): Promise<Pass> {
    const [recent, improver, reviewer] = await Promise.all([
      executions.recent(organization, prepared.agent.id, lookbackExecutions),
      readPreparedAgent(context, organization, promptImprover),
      readPreparedAgent(context, organization, qaReviewer),
    ]);
    return pass(
      { prepared, improver, reviewer, evidence: evidenceOf(recent), focusArea },
      { ...tools, asked: (execution) => executions.asked(execution), clock, pause },
      startedAt,
    );
  }

  /** Adopts what won, or says why not; either is recorded with the answer, or not at all. */
  async function conclude(
    organization: Organization,
    agent: StoredAgent,
    came: Pass,
    recordResponse: RecordResponse,
  ): Promise<Improvement> {
    const previousPromptHash = hashOf(agent.systemPrompt);
    const answer = (improved: boolean, changesSummary: string, prompt: string): Improvement => ({
      improved,
      changesSummary,
      previousPromptHash,
      newPromptHash: hashOf(prompt),
    });
    let why: string | undefined;
    if ('prompt' in came) {
      const adopted = answer(true, came.summary, came.prompt);
      why = await adopt(organization, agent, came, recordResponse ? [recordResponse(adopted)] : []);
      if (why === undefined) return adopted;
    } else why = came.reason;
    const kept = answer(false, why, agent.systemPrompt);
    if (recordResponse) await transact(executions.table, [recordResponse(kept)]);
    return kept;
  }

  /**
   * Writes the new prompt into the agent as it is now.
   *
   * @returns why not, where its prompt is another by now, or it is gone, or changes faster than it can be written
   */
  async function adopt(
    organization: Organization,
    { id, name, systemPrompt }: StoredAgent,
    { prompt, summary }: { prompt: string; summary: string },
    also: readonly Write[],
  ): Promise<string | undefined> {
    for (let tries = 0; tries < triesOfChange; tries++) {
      const now = await readAgent(context, organization, name);
      if (now?.id !== id) return 'The agent was deleted meanwhile.';
      if (now.systemPrompt !== systemPrompt) return 'The prompt was changed meanwhile; that change stands.';
      const after = { ...now, systemPrompt: prompt, version: now.version + 1, updatedAt: timestamp(clock()) };
      try {
        await changeAgent(context, organization, now, after, { why: 'self-improved', summary, also });
        return undefined;
      } catch (error) {
        // Something else of the agent was changed meanwhile: its prompt may still be the same.
        if (!(error instanceof Conflict)) throw error;
      }
    }
    return 'The agent was changed again and again, so the proposal could not be written; ask again.';
  }
}

import { authorizeTools } from '../agents/agent-permissions.ts';
import { promptImprover, qaReviewer } from '../agents/system-agents.ts';
import type { Context } from '../context/context.ts';
import { toolScopesOf } from '../contract/agents/agent-operations.ts';
import type { Improvement, ImprovementDecision, NewImprovement } from '../contract/agents/improvements.ts';
import type { Scope } from '../contract/endpoint.ts';
import { notFound } from '../contract/errors.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { hasScopes } from '../contract/required-scopes.ts';
import type { RunResources } from '../executions/run/generate-output.ts';
import { Conflict, transact } from '../table/access/transact.ts';
import type { Write } from '../table/access/write.ts';
import { hashOf, type StoredAgent } from '../table/agents/agent-items.ts';
import { changeAgent, readAgent, readAgentHead } from '../table/agents/agents.ts';
import { agentExists, endImprovementLease, improvementWrites, leaseImprovement } from '../table/agents/improvements.ts';
import { type PreparedAgent, type PreparingContext, readPreparedAgent } from '../table/agents/prepared-agents.ts';
import type { ExecutionHead } from '../table/executions/execution-items.ts';
import { readExecutionInput, readRecentExecutions } from '../table/executions/executions.ts';
import { countImprovementStart, countTokens, type StartContext } from '../table/executions/running.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { evidenceOf } from './evidence.ts';
import { improvementPass, type PassResult } from './improvement-pass.ts';
import { shownProof } from './proof.ts';

/** The part of a context that self-improvement needs. */
export type ImprovementContext = PreparingContext & StartContext & Pick<Context, 'clock' | 'pause' | 'ulid'>;

/** How often the change of an agent is tried that other requests change at the same time. */
const triesOfChange = 5;

/**
 * Makes a pass of self-improvement, within 25 seconds: evidence, a proposal, old and new prompt on recent inputs, a blind
 * choice (docs/architecture.md#self-improvement). It changes the prompt only if the agent still has the prompt that the
 * pass began with, and never the soul or the skills.
 *
 * @param scopes the scopes of the caller
 * @throws `ApiError` `not_found`, `improvement_in_progress`, `rate_limited`, `insufficient_scope` for tools of the agent that
 *   need other scopes
 */
export async function selfImproveAgent(
  context: ImprovementContext,
  organization: Organization,
  name: string,
  options: NewImprovement,
  tools: RunResources,
  recordResponse: RecordResponse,
  scopes: readonly Scope[],
): Promise<Improvement> {
  const startedAt = context.clock();
  const agent = await readAgentHead(context, organization, name);
  if (!agent) throw notFound('agent');
  authorizeTools(scopes, agent);
  const leaseId = await leaseImprovement(context, organization, agent.id);
  try {
    const prepared = await readPreparedAgent(context, organization, name);
    if (prepared?.agent.id !== agent.id) throw notFound('agent');
    const result = await passOf(context, organization, prepared, options, tools, startedAt);
    return await conclude(context, organization, prepared.agent, { ...result, startedAt }, recordResponse, scopes);
  } finally {
    // A lease that cannot be ended now expires; the response does not wait for it.
    await endImprovementLease(context, organization, agent.id, leaseId).catch(() => {});
  }
}

/** Makes a pass, and counts its start and its tokens in the limits of the organization. */
async function passOf(
  context: ImprovementContext,
  organization: Organization,
  prepared: PreparedAgent,
  { lookbackExecutions, focusArea }: NewImprovement,
  tools: RunResources,
  startedAt: number,
): Promise<PassResult> {
  const [recent, improver, reviewer] = await Promise.all([
    readRecentExecutions(context, organization, prepared.agent.id, lookbackExecutions),
    readPreparedAgent(context, organization, promptImprover),
    readPreparedAgent(context, organization, qaReviewer),
  ]);
  const readInput = (execution: ExecutionHead) => readExecutionInput(context, execution);
  let tokens = 0;
  const material = {
    ...{ prepared, improver, reviewer, evidence: evidenceOf(recent), focusArea, readInput },
    begin: () => countImprovementStart(context, organization, startedAt),
    spend: (used: number) => {
      tokens += used;
    },
  };
  try {
    return await improvementPass(context, material, tools, startedAt);
  } finally {
    // Before the result is written, and however the pass ended: the tokens are paid.
    if (tokens > 0) await countTokens(context, organization, tokens, context.clock());
  }
}

/** Adopts the new prompt, or says why there is none; stores the pass and records the response in the same transaction. */
async function conclude(
  context: ImprovementContext,
  organization: Organization,
  agent: StoredAgent,
  pass: PassResult & { startedAt: number },
  recordResponse: RecordResponse,
  scopes: readonly Scope[],
): Promise<Improvement> {
  const previousPromptHash = hashOf(agent.systemPrompt);
  const responseOf = (improved: boolean, changesSummary: string, prompt: string): Improvement => ({
    improved,
    changesSummary,
    previousPromptHash,
    newPromptHash: hashOf(prompt),
  });
  const recordsOf = (response: Improvement) => recordResponse?.(response) ?? [];
  const passWrites = (decision: ImprovementDecision, response: Improvement) =>
    improvementWrites(organization, agent.id, {
      id: `im_${context.ulid()}`,
      decision,
      ...response,
      tokensUsed: pass.tokensUsed,
      startedAt: timestamp(pass.startedAt),
      durationMs: context.clock() - pass.startedAt,
      ...shownProof(pass),
    });
  if (pass.decision === 'adopted') {
    const adopted = responseOf(true, pass.summary, pass.prompt);
    const also = [...passWrites('adopted', adopted), ...recordsOf(adopted)];
    const reason = await adopt(context, organization, agent, pass, also, scopes);
    if (reason === undefined) return adopted;
    return notAdopted('superseded', reason);
  }
  return notAdopted(pass.decision, pass.reason);

  async function notAdopted(decision: ImprovementDecision | 'not_started', reason: string): Promise<Improvement> {
    const unchanged = responseOf(false, reason, agent.systemPrompt);
    const records = recordsOf(unchanged);
    const stored = decision === 'not_started' ? [] : passWrites(decision, unchanged);
    try {
      if (stored.length > 0) await transact(context.table, [agentExists(organization, agent), ...stored, ...records]);
      else if (records.length > 0) await transact(context.table, records);
    } catch (error) {
      // The agent was deleted: nothing of the pass is stored.
      if (!(error instanceof Conflict)) throw error;
      if (records.length > 0) await transact(context.table, records);
    }
    return unchanged;
  }
}

/**
 * Writes the new prompt to the agent as it is now.
 *
 * @returns why it was not written; `undefined` if it was
 */
async function adopt(
  context: ImprovementContext,
  organization: Organization,
  { id, name, systemPrompt }: StoredAgent,
  { prompt, summary }: { prompt: string; summary: string },
  also: readonly Write[],
  scopes: readonly Scope[],
): Promise<string | undefined> {
  for (let tries = 0; tries < triesOfChange; tries++) {
    const now = await readAgent(context, organization, name);
    if (now?.id !== id) return 'The agent was deleted meanwhile.';
    if (now.systemPrompt !== systemPrompt) return 'The prompt was changed meanwhile; that change stands.';
    if (!hasScopes(scopes, toolScopesOf(now.capabilities)))
      return 'The agent got other tools meanwhile, which need scopes that the access token does not have.';
    const after = { ...now, systemPrompt: prompt, version: now.version + 1, updatedAt: timestamp(context.clock()) };
    try {
      await changeAgent(context, organization, now, after, { why: 'self-improved', summary, also });
      return undefined;
    } catch (error) {
      // Another field of the agent was changed meanwhile: its prompt may still be the same.
      if (!(error instanceof Conflict)) throw error;
    }
  }
  return 'The agent was changed again and again, so the proposal could not be written; ask again.';
}

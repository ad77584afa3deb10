import type { Context } from '../context/context.ts';
import type { ImprovementDecision } from '../contract/agents/improvements.ts';
import { systemPromptOf, userPromptOf } from '../executions/prompts/execution-prompts.ts';
import { type Answered, askModel } from '../executions/run/ask-model.ts';
import type { RunResources } from '../executions/run/generate-output.ts';
import type { PreparedAgent } from '../table/agents/prepared-agents.ts';
import type { ExecutionHead, ExecutionInput } from '../table/executions/execution-items.ts';
import type { Evidence } from './evidence.ts';
import { choiceQuestion, proposalQuestion, type ShownEvidence } from './improvement-prompts.ts';
import { edited, type Proposal, proposalOf } from './proposals.ts';
import {
  answerPairs,
  failureReason,
  isComparable,
  isJudged,
  judgedTrial,
  type Trial,
  type TriedInput,
  votesOf,
} from './trials.ts';
import { fewestPairs, isBetter, pairsOfPass, sumOfVotes } from './votes.ts';

/** The material of a pass. */
export type PassMaterial = {
  /** The agent to improve. */
  prepared: PreparedAgent;
  improver: PreparedAgent | undefined;
  reviewer: PreparedAgent | undefined;
  /** Its recent finished executions, newest first. */
  evidence: readonly Evidence[];
  focusArea: string | undefined;
  /** Reads the input of an execution; `undefined` if the execution was deleted. */
  readInput: (execution: ExecutionHead) => Promise<ExecutionInput | undefined>;
  /** Called before the first question to a model. It throws if the organization may not begin a pass now. */
  begin: () => Promise<void>;
  /** Notes the used tokens of a question. */
  spend: (tokens: number) => void;
};

/** Why a pass ended as it did. A pass that did not start has asked no model. */
type PassDecision = 'not_started' | Exclude<ImprovementDecision, 'superseded'>;

/** The proof of a pass: the proposal, the answers of both prompts with the votes of the reviewer, and the used tokens. */
export type PassProof = { proposal: Proposal | undefined; trials: readonly Trial[]; tokensUsed: number };

/** The result of a pass: a better prompt, or why there is none. */
export type PassResult = PassProof &
  (
    | { decision: 'adopted'; prompt: string; summary: string }
    | { decision: Exclude<PassDecision, 'adopted'>; reason: string }
  );

/**
 * The latest end of each step, in milliseconds from the start. The response is sent after 29 s at the latest, and the
 * result must be written before that.
 */
const endsAt = { proposal: 9_000, runs: 18_000, choice: 24_000 };

/** How many executions are shown to the improver with their inputs. */
const shownInputs = 5;

const maxTokens = { proposal: 1_024, run: 768, choice: 256 };

/** The response waits for the models. */
const effort = 'low';

/**
 * Makes a pass of self-improvement. It writes nothing itself.
 *
 * @param startedAt when the request came in (Unix time, in ms)
 * @throws the error of `begin`, of `readInput`
 */
export async function improvementPass(
  context: Pick<Context, 'clock' | 'pause'>,
  { prepared, improver, reviewer, evidence, focusArea, readInput, begin, spend }: PassMaterial,
  { model, catalogue }: RunResources,
  startedAt: number,
): Promise<PassResult> {
  const proof: { -readonly [Name in keyof PassProof]: PassProof[Name] } = {
    proposal: undefined,
    trials: [],
    tokensUsed: 0,
  };
  const keep = (kept: { decision: Exclude<PassDecision, 'adopted'>; reason: string }): PassResult => ({
    ...proof,
    ...kept,
  });
  const notStarted = (kept: { reason: string }) => keep({ decision: 'not_started', ...kept });
  if (evidence.length === 0)
    return notStarted({ reason: 'There is nothing to learn from: no execution has finished yet.' });
  const troubled = evidence.filter(({ troubles }) => troubles.length > 0);
  if (troubled.length === 0 && !focusArea)
    return notStarted({
      reason: `There is nothing to learn: ${evidence.length === 1 ? 'the last execution shows' : `the last ${evidence.length} executions show`} no fault of the prompt.`,
    });
  if (improver?.agent.status !== 'active')
    return notStarted({ reason: 'The agent prompt-improver is not active; set its status to active first.' });
  if (reviewer?.agent.status !== 'active')
    return notStarted({ reason: 'The agent qa-reviewer is not active; set its status to active first.' });
  if (reviewer.agent.id === prepared.agent.id)
    return notStarted({ reason: 'The reviewer cannot verify a prompt of its own.' });

  const { shown, heldOut } = split([...new Set([...troubled, ...evidence])]);
  const [shownTexts, heldOutTexts] = await Promise.all([readInputs(shown), readInputs(heldOut)]);
  const shownEvidence = evidence.map((one): ShownEvidence => {
    const input = shownTexts.find(({ executionId }) => executionId === one.execution.id)?.input.input;
    return input === undefined ? one : { ...one, input };
  });

  await begin();
  const { systemPrompt } = prepared.agent;
  const proposed = await until(endsAt.proposal, (signal) =>
    ask({
      model: improver.agent.model,
      system: systemPromptOf(improver, catalogue, { withTools: false }),
      user: proposalQuestion(systemPrompt, shownEvidence, focusArea),
      maxTokens: maxTokens.proposal,
      signal,
    }),
  );
  if (proposed.kind !== 'text')
    return keep({ decision: 'no_proposal', reason: `No edit was proposed. ${failureReason(proposed)}` });
  const proposal = proposalOf(proposed.text);
  if (!proposal)
    return keep({
      decision: 'no_proposal',
      reason: 'The answer of the prompt improver could not be read as a proposal.',
    });
  proof.proposal = proposal;
  if (!proposal.edit) return keep({ decision: 'no_proposal', reason: `No edit was proposed: ${proposal.summary}` });
  const editedPrompt = edited(systemPrompt, proposal.edit);
  if ('fault' in editedPrompt)
    return keep({ decision: 'not_usable', reason: `The proposal could not be used: ${editedPrompt.fault}.` });

  const inputs = heldOutTexts.length > 0 ? heldOutTexts : shownTexts;
  if (inputs.length === 0)
    return keep({
      decision: 'not_tried',
      reason: 'There is nothing to try a proposal on: the recent executions are gone.',
    });
  const pairs = await until(endsAt.runs, (signal) =>
    answerPairs(inputs, (input) =>
      Promise.all([answerTo(input, systemPrompt, signal), answerTo(input, editedPrompt.prompt, signal)]),
    ),
  );
  proof.trials = pairs.map((pair) => ({ ...pair, votes: [], unjudged: undefined }));
  const failure = pairs.flatMap(({ before, after }) => [before, after]).find(({ kind }) => kind !== 'text');
  if (failure && pairs.filter(isComparable).length < fewestPairs)
    return keep({ decision: 'not_tried', reason: `The proposal could not be tried. ${failureReason(failure)}` });

  const trials = await until(endsAt.choice, (signal) =>
    Promise.all(pairs.map((pair) => judgedTrial(pair, (...asked) => choose(...asked, signal)))),
  );
  proof.trials = trials;
  const unjudged = trials.find((trial) => trial.unjudged)?.unjudged;
  if (unjudged && trials.filter(isJudged).length < fewestPairs)
    return keep({ decision: 'not_judged', reason: `The proposal could not be judged. ${failureReason(unjudged)}` });
  const votes = trials.map(votesOf);
  if (sumOfVotes(votes) < 0)
    return keep({ decision: 'worse', reason: `The proposal was seen to do worse: ${proposal.summary}` });
  if (!isBetter(votes))
    return keep({ decision: 'not_better', reason: `The proposal was not seen to do better: ${proposal.summary}` });
  return { ...proof, decision: 'adopted', prompt: editedPrompt.prompt, summary: proposal.summary };

  /** Returns the inputs of executions, without deleted ones. */
  async function readInputs(chosen: readonly Evidence[]): Promise<TriedInput[]> {
    const read = await Promise.all(chosen.map(({ execution }) => readInput(execution)));
    return chosen.flatMap(({ execution: { id } }, at) => {
      const input = read[at];
      return input ? [{ executionId: id, input, heldOut: chosen === heldOut }] : [];
    });
  }

  async function ask(question: Omit<Parameters<typeof model>[0], 'effort'>): Promise<Answered> {
    const answered = await askModel(context, model, { ...question, effort }, 1);
    proof.tokensUsed += answered.tokens;
    spend(answered.tokens);
    return answered;
  }

  function answerTo(input: ExecutionInput, prompt: string, signal: AbortSignal): Promise<Answered> {
    const tried = { ...prepared, agent: { ...prepared.agent, systemPrompt: prompt } };
    const system = systemPromptOf(tried, catalogue, { withTools: false });
    const question = { model: prepared.agent.model, system, user: userPromptOf(input), maxTokens: maxTokens.run };
    return ask({ ...question, signal });
  }

  /** Asks the reviewer which of two answers is better. It does not learn which prompt led to which answer. */
  function choose(input: ExecutionInput, first: string, second: string, signal: AbortSignal): Promise<Answered> {
    const asked = reviewer as PreparedAgent;
    const question = {
      model: asked.agent.model,
      system: systemPromptOf(asked, catalogue, { withTools: false }),
      user: choiceQuestion(input, first, second),
    };
    return ask({ ...question, maxTokens: maxTokens.choice, signal });
  }

  /** Does a step, whose signal aborts at a moment of the pass. */
  async function until<Done>(moment: number, act: (signal: AbortSignal) => Promise<Done>): Promise<Done> {
    const { clock, pause } = context;
    const [timeUp, done] = [new AbortController(), new AbortController()];
    const remainingMs = startedAt + moment - clock();
    if (remainingMs <= 0) timeUp.abort();
    else void pause(remainingMs, done.signal).then(() => timeUp.abort());
    try {
      return await act(timeUp.signal);
    } finally {
      done.abort();
    }
  }
}

/**
 * Splits executions, the most useful first, into the executions that the improver sees and the executions that its
 * edit is tried on. An edit that only fits the shown inputs is not better on the others.
 */
function split(ranked: readonly Evidence[]): { shown: Evidence[]; heldOut: Evidence[] } {
  const shown = ranked.filter((_, rank) => rank % 2 === 0).slice(0, shownInputs);
  return { shown, heldOut: ranked.filter((one) => !shown.includes(one)).slice(0, pairsOfPass) };
}

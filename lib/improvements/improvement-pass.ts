import type { Context } from '../context.ts';
import { type Answered, askModel } from '../executions/ask-model.ts';
import type { Tools } from '../executions/generate-output.ts';
import { systemPromptOf, userPromptOf } from '../executions/prompts.ts';
import type { PreparedAgent } from '../table/agents/prepared-agents.ts';
import type { ExecutionHead, ExecutionInput } from '../table/executions/execution-items.ts';
import type { Evidence } from './evidence.ts';
import { choiceOf, choiceQuestion, proposalQuestion, type ShownEvidence } from './improvement-prompts.ts';
import { edited, proposalOf } from './proposals.ts';

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
};

/** The result of a pass: a better prompt, or why there is none. */
export type PassResult = { prompt: string; summary: string } | { reason: string };

/**
 * The latest end of each step, in milliseconds from the start. The response is sent after 29 s at the latest, and the
 * result must be written before that.
 */
const endsAt = { proposal: 9_000, runs: 18_000, choice: 24_000 };

/** How many inputs are tried, and how many executions are shown to the improver with their inputs. */
const triedInputs = 2;
const shownInputs = 5;

const maxTokens = { proposal: 1_024, run: 768, choice: 256 };

/** The response waits for the models. */
const effort = 'low';

/**
 * Makes a pass of self-improvement. It writes nothing.
 *
 * @param startedAt when the request came in (Unix time, in ms)
 */
export async function improvementPass(
  context: Pick<Context, 'clock' | 'pause'>,
  { prepared, improver, reviewer, evidence, focusArea, readInput }: PassMaterial,
  { model, catalogue }: Tools,
  startedAt: number,
): Promise<PassResult> {
  if (evidence.length === 0) return { reason: 'There is nothing to learn from: no execution has finished yet.' };
  const troubled = evidence.filter(({ troubles }) => troubles.length > 0);
  if (troubled.length === 0 && !focusArea)
    return { reason: `There is nothing to learn: the last ${evidence.length} executions show no fault of the prompt.` };
  if (improver?.agent.status !== 'active')
    return { reason: 'The agent prompt-improver is not active; set its status to active first.' };
  if (reviewer?.agent.status !== 'active')
    return { reason: 'The agent qa-reviewer is not active; set its status to active first.' };
  if (reviewer.agent.id === prepared.agent.id) return { reason: 'The reviewer cannot verify a prompt of its own.' };

  const chosen = [...new Set([...troubled, ...evidence])].slice(0, shownInputs);
  const chosenInputs = await Promise.all(chosen.map(({ execution }) => readInput(execution)));
  const shownEvidence = evidence.map((one): ShownEvidence => {
    const input = chosenInputs[chosen.indexOf(one)]?.input;
    return input === undefined ? one : { ...one, input };
  });

  const { systemPrompt } = prepared.agent;
  const proposed = await until(endsAt.proposal, (signal) =>
    askModel(
      context,
      model,
      {
        model: improver.agent.model,
        system: systemPromptOf(improver, catalogue),
        user: proposalQuestion(systemPrompt, shownEvidence, focusArea),
        maxTokens: maxTokens.proposal,
        effort,
        signal,
      },
      1,
    ),
  );
  if (proposed.kind !== 'text') return { reason: `No edit was proposed. ${failureOf(proposed)}` };
  const proposal = proposalOf(proposed.text);
  if (!proposal) return { reason: 'The answer of the prompt improver could not be read as a proposal.' };
  if (!proposal.edit) return { reason: `No edit was proposed: ${proposal.summary}` };
  const editedPrompt = edited(systemPrompt, proposal.edit);
  if ('fault' in editedPrompt) return { reason: `The proposal could not be used: ${editedPrompt.fault}.` };

  const inputs = chosenInputs.filter((input) => input !== undefined).slice(0, triedInputs);
  if (inputs.length === 0) return { reason: 'There is nothing to try a proposal on: the recent executions are gone.' };
  const answerPairs = await until(endsAt.runs, (signal) =>
    Promise.all(
      inputs.map((input) =>
        Promise.all([systemPrompt, editedPrompt.prompt].map((prompt) => answerTo(input, prompt, signal))),
      ),
    ),
  );
  const failure = answerPairs.flat().find(({ kind }) => kind !== 'text');
  if (failure) return { reason: `The proposal could not be tried. ${failureOf(failure)}` };

  const judged = await until(endsAt.choice, (signal) =>
    Promise.all(
      answerPairs.map(([before, after], at) =>
        judge(inputs[at] as ExecutionInput, textOf(before), textOf(after), signal),
      ),
    ),
  );
  const unjudged = judged.flat().find(({ kind }) => kind !== 'text');
  if (unjudged) return { reason: `The proposal could not be judged. ${failureOf(unjudged)}` };
  const votes = judged.map(voteOf);
  if (votes.some((vote) => vote < 0)) return { reason: `The proposal was seen to do worse: ${proposal.summary}` };
  if (!votes.some((vote) => vote > 0)) return { reason: `The proposal was not seen to do better: ${proposal.summary}` };
  return { prompt: editedPrompt.prompt, summary: proposal.summary };

  function answerTo(input: ExecutionInput, prompt: string, signal: AbortSignal): Promise<Answered> {
    const system = systemPromptOf({ ...prepared, agent: { ...prepared.agent, systemPrompt: prompt } }, catalogue);
    const question = { model: prepared.agent.model, system, user: userPromptOf(input), maxTokens: maxTokens.run };
    return askModel(context, model, { ...question, effort, signal }, 1);
  }

  /**
   * Asks the reviewer which answer is better, blind and in both orders: that of the old prompt, or that of the new one. Asks
   * nothing if the answers are the same.
   */
  async function judge(input: ExecutionInput, before: string, after: string, signal: AbortSignal): Promise<Answered[]> {
    if (before.trim() === after.trim()) return [];
    const system = systemPromptOf(reviewer as PreparedAgent, catalogue);
    const choose = (first: string, second: string) => {
      const question = {
        model: (reviewer as PreparedAgent).agent.model,
        system,
        user: choiceQuestion(input, first, second),
      };
      return askModel(context, model, { ...question, maxTokens: maxTokens.choice, effort, signal }, 1);
    };
    return Promise.all([choose(before, after), choose(after, before)]);
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
 * Returns 1 if the new prompt was chosen in both orders, −1 if the old one was, and 0 if the choices differ: a
 * reviewer that always prefers the first or the second answer does not decide.
 */
function voteOf(judged: readonly Answered[]): number {
  const [forwards, backwards] = judged.map((answered) => choiceOf(textOf(answered)));
  if (forwards === 2 && backwards === 1) return 1;
  return forwards === 1 && backwards === 2 ? -1 : 0;
}

const textOf = (answered: Answered | undefined) => (answered?.kind === 'text' ? answered.text : '');

function failureOf(answered: Answered): string {
  return answered.kind === 'failed' ? answered.error : 'There was no time left.';
}

import { type Answered, ask, type Pause } from '../executions/asking.ts';
import { requestOf, systemPromptOf } from '../executions/prompts.ts';
import type { Tools } from '../executions/work.ts';
import type { Asked, ExecutionHead } from '../table/execution-items.ts';
import type { PreparedAgent } from '../table/prepared-agents.ts';
import type { Evidence } from './evidence.ts';
import { choiceOf, choiceQuestion, proposalQuestion, type Told } from './improvement-prompts.ts';
import { edited, proposalOf } from './proposals.ts';

/** What a pass looks at. */
export type Material = {
  /** The agent that learns. */
  prepared: PreparedAgent;
  improver: PreparedAgent | undefined;
  reviewer: PreparedAgent | undefined;
  /** Its recent finished executions, the newest first. */
  evidence: readonly Evidence[];
  focusArea: string | undefined;
};

/** What a pass has come to: a better prompt, or why there is none. */
export type Pass = { prompt: string; summary: string } | { reason: string };

type PassParts = Tools & {
  /** What an execution was asked; `undefined` where it is gone. */
  asked: (execution: ExecutionHead) => Promise<Asked | undefined>;
  clock: () => number;
  pause: Pause;
};

/**
 * When each step has to be over, in milliseconds from the start: a request is answered after 29 s at the latest, and the
 * answer still has to be written.
 */
const overAt = { proposal: 9_000, runs: 18_000, choice: 24_000 };

/** So many inputs are tried, and so many executions shown with what they were asked. */
const triedInputs = 2;
const shownInputs = 5;

const maxTokens = { proposal: 1_024, run: 768, choice: 256 };

/** The answer of a request waits for it. */
const effort = 'low';

/** Makes a pass of self-improvement. It writes nothing. */
export async function pass(material: Material, parts: PassParts, startedAt: number): Promise<Pass> {
  const { prepared, improver, reviewer, evidence, focusArea } = material;
  const { model, catalogue, clock, pause } = parts;
  if (evidence.length === 0) return { reason: 'There is nothing to learn from: no execution has finished yet.' };
  const troubled = evidence.filter(({ troubles }) => troubles.length > 0);
  if (troubled.length === 0 && !focusArea)
    return { reason: `There is nothing to learn: the last ${evidence.length} executions show no fault of the prompt.` };
  if (improver?.agent.status !== 'active') return { reason: 'The prompt improver is not active, so nobody proposes.' };
  if (reviewer?.agent.status !== 'active') return { reason: 'The reviewer is not active, so nobody could verify.' };
  if (reviewer.agent.id === prepared.agent.id) return { reason: 'The reviewer cannot verify a prompt of its own.' };

  const chosen = [...new Set([...troubled, ...evidence])].slice(0, shownInputs);
  const works = await Promise.all(chosen.map(({ execution }) => parts.asked(execution)));
  const told = evidence.map((one): Told => {
    const input = works[chosen.indexOf(one)]?.input;
    return input === undefined ? one : { ...one, input };
  });

  const { systemPrompt } = prepared.agent;
  const proposed = await until(overAt.proposal, (signal) =>
    ask(
      model,
      {
        model: improver.agent.model,
        system: systemPromptOf(improver, catalogue),
        user: proposalQuestion(systemPrompt, told, focusArea),
        maxTokens: maxTokens.proposal,
        effort,
        signal,
      },
      pause,
      1,
    ),
  );
  if (proposed.kind !== 'text') return { reason: `No edit was proposed. ${wordsFor(proposed)}` };
  const proposal = proposalOf(proposed.text);
  if (!proposal) return { reason: 'What the prompt improver answered could not be read as a proposal.' };
  if (!proposal.edit) return { reason: `No edit was proposed: ${proposal.summary}` };
  const made = edited(systemPrompt, proposal.edit);
  if ('fault' in made) return { reason: `The proposal could not be used: ${made.fault}.` };

  const inputs = works.filter((work) => work !== undefined).slice(0, triedInputs);
  if (inputs.length === 0) return { reason: 'There is nothing to try a proposal on: the recent executions are gone.' };
  const tried = await until(overAt.runs, (signal) =>
    Promise.all(
      inputs.map((work) => Promise.all([systemPrompt, made.prompt].map((prompt) => answerTo(work, prompt, signal)))),
    ),
  );
  const failure = tried.flat().find(({ kind }) => kind !== 'text');
  if (failure) return { reason: `The proposal could not be tried. ${wordsFor(failure)}` };

  const judged = await until(overAt.choice, (signal) =>
    Promise.all(tried.map(([before, after], at) => judge(inputs[at] as Asked, textOf(before), textOf(after), signal))),
  );
  const silence = judged.flat().find(({ kind }) => kind !== 'text');
  if (silence) return { reason: `The proposal could not be judged. ${wordsFor(silence)}` };
  const votes = judged.map(voteOf);
  if (votes.some((vote) => vote < 0)) return { reason: `The proposal was seen to do worse: ${proposal.summary}` };
  if (!votes.some((vote) => vote > 0)) return { reason: `The proposal was not seen to do better: ${proposal.summary}` };
  return { prompt: made.prompt, summary: proposal.summary };

  function answerTo(work: Asked, prompt: string, signal: AbortSignal): Promise<Answered> {
    const system = systemPromptOf({ ...prepared, agent: { ...prepared.agent, systemPrompt: prompt } }, catalogue);
    const question = { model: prepared.agent.model, system, user: requestOf(work), maxTokens: maxTokens.run };
    return ask(model, { ...question, effort, signal }, pause, 1);
  }

  /**
   * Has what the old prompt and the new one led to judged blind, in both orders. Where that is the same there is nothing
   * to choose, and nobody is asked: a judge that guesses could but err.
   */
  async function judge(work: Asked, before: string, after: string, signal: AbortSignal): Promise<Answered[]> {
    if (before.trim() === after.trim()) return [];
    const system = systemPromptOf(reviewer as PreparedAgent, catalogue);
    const choose = (first: string, second: string) => {
      const question = {
        model: (reviewer as PreparedAgent).agent.model,
        system,
        user: choiceQuestion(work, first, second),
      };
      return ask(model, { ...question, maxTokens: maxTokens.choice, effort, signal }, pause, 1);
    };
    return Promise.all([choose(before, after), choose(after, before)]);
  }

  /** Does something until a moment of the pass, at which its signal aborts. */
  async function until<Done>(moment: number, act: (signal: AbortSignal) => Promise<Done>): Promise<Done> {
    const [late, done] = [new AbortController(), new AbortController()];
    const left = startedAt + moment - clock();
    if (left <= 0) late.abort();
    else void pause(left, done.signal).then(() => late.abort());
    try {
      return await act(late.signal);
    } finally {
      done.abort();
    }
  }
}

/**
 * What was chosen in both orders: 1 for the new prompt, −1 for the old, 0 for neither. It counts only where both agree: a
 * judge that prefers a place has no say.
 */
function voteOf(judged: readonly Answered[]): number {
  const [forwards, backwards] = judged.map((answered) => choiceOf(textOf(answered)));
  if (forwards === 2 && backwards === 1) return 1;
  return forwards === 1 && backwards === 2 ? -1 : 0;
}

const textOf = (answered: Answered | undefined) => (answered?.kind === 'text' ? answered.text : '');

function wordsFor(answered: Answered): string {
  return answered.kind === 'failed' ? answered.error : 'There was no time left.';
}

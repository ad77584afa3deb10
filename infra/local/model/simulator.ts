import { setTimeout as timer } from 'node:timers/promises';
import { namedModels } from '../../../lib/contract/agents/models.ts';
import { isDeeper, maxDepth } from '../../../lib/contract/depth.ts';
import { verdictLine } from '../../../lib/executions/prompts/execution-prompts.ts';
import { type Conversation, conversationOf, withValues } from './conversation.ts';
import type { LocalModel, ModelRequest, Reply, RequestedCall } from './converse-client.ts';
import type { Rule } from './model-script.ts';
import { mark, simulatedWork } from './simulated-work.ts';

/** The options of a simulator. */
export type SimulatorOptions = {
  /** The default model of agents. The simulator accepts it, the models of its rules, and all models that the project names. */
  defaultModel: string;
  /** The latency of each answer in milliseconds, unless a rule sets another. */
  latencyMs: number;
  /** Rules are tried in order; the first match answers. */
  rules: readonly Rule[];
  /** Waits for a time in milliseconds, and throws when the signal aborts. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
};

/** Creates a simulated model: it answers by rules, or does what an input asks for in words (`simulatedWork`). */
export function createSimulator({ defaultModel, latencyMs, rules, sleep = wait }: SimulatorOptions): LocalModel {
  // `namedModels` contains the default models of earlier versions, which agents may still have.
  const models = new Set([defaultModel, ...namedModels, ...rules.map(({ model }) => model)]);
  const scripted = rules.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }));
  return async (request, signal) => {
    if (!models.has(request.model))
      return { kind: 'error', name: 'ValidationException', message: 'The provided model identifier is invalid.' };
    const conversation = conversationOf(request);
    const found = scripted.find(({ rule, left }) => left > 0 && matches(rule, request, conversation));
    if (found) found.left -= 1;
    const delayMs = found?.rule.delayMs ?? latencyMs;
    if (delayMs > 0) await sleep(delayMs, signal);
    return found ? scriptedReply(found.rule, request, conversation) : standardReply(request, conversation);
  };
}

const wait = (milliseconds: number, signal: AbortSignal) => timer(milliseconds, undefined, { signal });

const matches = (rule: Rule, request: ModelRequest, conversation: Conversation) =>
  (rule.model === undefined || rule.model === request.model) &&
  isFound(rule.match(request.user)) &&
  (rule.system === undefined || isFound(rule.system(request.system))) &&
  (!isAboutTools(rule) || (request.tools.length > 0 && matchesConversation(rule, conversation)));

/** Whether a rule is only for questions with tools. So a rule for an agent does not match the questions of its gates. */
const isAboutTools = ({ step, after, results, tool, tools, malformedTool }: Rule) =>
  [step, after, results, tool, tools, malformedTool].some((field) => field !== undefined);

const matchesConversation = ({ step, after, results }: Rule, { step: current, latest }: Conversation) =>
  (step === undefined || step === current) &&
  (after === undefined || latest.some(({ tool }) => tool === after)) &&
  (results === undefined || isFound(results(latest.map(({ output }) => output).join('\n'))));

/** A match of a regular expression is a list of its groups. */
const isFound = (match: boolean | readonly string[]) => match !== false;

function scriptedReply(rule: Rule, request: ModelRequest, { step, results }: Conversation): Reply {
  const { text, throttle, error, malformed, refusal, stopReason, tool, tools, malformedTool, tokens } = rule;
  if (throttle) return { kind: 'error', name: 'ThrottlingException' };
  if (error) return { kind: 'error', name: error };
  if (malformed) return { kind: 'malformed' };
  const match = rule.match(request.user);
  const values = { match: typeof match === 'boolean' ? [] : match, results };
  const calls = (tools ?? (tool ? [tool] : [])).map(({ name, input }) => ({ name, input: withValues(input, values) }));
  const otherReason = refusal ? 'refusal' : malformedTool ? 'malformed_tool_use' : 'end_turn';
  const reply =
    calls.length > 0
      ? callingAnswer(request, step, calls)
      : answer(request, withValues(text, values) ?? 'The simulator stops here.', stopReason ?? otherReason);
  if (tokens === undefined) return reply;
  const input = Math.min(reply.tokens.input, tokens);
  return { ...reply, tokens: { input, output: tokens - input } };
}

/** Returns the text of calls, by which their tokens are estimated. JSON cannot have arguments of any depth. */
const textOf = (calls: readonly RequestedCall[]) =>
  calls.map(({ name, input }) => (isDeeper(input, maxDepth) ? name : JSON.stringify([name, input]))).join(' ');

function standardReply(request: ModelRequest, conversation: Conversation): Reply {
  if (request.user.includes(verdictLine))
    return answer(request, `The work does what was asked. ${mark}\nVERDICT: PASS`);
  const work = simulatedWork(request, conversation);
  return 'text' in work ? answer(request, work.text) : callingAnswer(request, conversation.step, work.calls);
}

/** Returns an answer with calls of tools, numbered by the step of the conversation. */
function callingAnswer(request: ModelRequest, step: number, requested: readonly Omit<RequestedCall, 'id'>[]) {
  const calls = requested.map((one, at) => ({ id: `tooluse_${step}_${at + 1}`, ...one }));
  return { ...answer(request, textOf(calls), 'tool_use'), text: '', calls };
}

function answer(request: ModelRequest, text: string, stopReason = 'end_turn') {
  return {
    kind: 'answer' as const,
    text,
    stopReason,
    tokens: { input: inputTokens(request), output: estimated(text) },
  };
}

function inputTokens({ system, user, tools, later }: ModelRequest): number {
  const conversation = tools.length > 0 ? JSON.stringify([tools, later]) : '';
  return estimated(system) + estimated(user) + estimated(conversation);
}

/** Estimates a number of tokens: four characters each, as in English text. */
const estimated = (text: string) => Math.ceil(text.length / 4);

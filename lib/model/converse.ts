import {
  type BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandOutput,
  type TokenUsage,
} from '@aws-sdk/client-bedrock-runtime';
import * as v from 'valibot';
import { type Effort, supportsPromptCache, thinkingTokensOf } from '../contract/agents/models.ts';
import { failureOf, unreadableAnswer } from './failures.ts';
import {
  addCachePoints,
  cachePoint,
  messagesOf,
  readMessage,
  type ToolCall,
  type ToolDefinition,
  type Turn,
  toolConfigOf,
} from './turns.ts';

export type { ToolCall, ToolDefinition, ToolResult, Turn } from './turns.ts';

/** A question to a model. */
export type Question = {
  /** The id of the model in Bedrock. */
  model: string;
  /** The system prompt. It has the same bytes for the same agent, so that the start of a request can be cached. */
  system: string;
  /** The first user message: the instruction, and all texts of callers and other agents. */
  user: string;
  /** The conversation after the first user message. A question with calls in its turns needs tools. */
  turns?: readonly Turn[];
  /** The tools that the model may call. With tools, the answer can be `tools` or `malformed`. */
  tools?: readonly ToolDefinition[];
  /** The maximum number of tokens of the answer without the tokens for thinking. */
  maxTokens: number;
  /** The effort of a thinking model, which decides its tokens for thinking; its own default if absent. */
  effort?: Effort;
  /** Aborts the call. */
  signal: AbortSignal;
};

/** The tokens of a question that Bedrock has read from its cache, and the tokens that it has written to the cache. */
export type CachedTokens = { read: number; written: number };

/**
 * The outcome of a call, with the number of used tokens if it is known (otherwise 0). It includes cached tokens, which
 * `cached` has if there were any.
 */
export type ModelAnswer = { tokens: number; cached?: CachedTokens } & (
  | { kind: 'text'; text: string }
  /** The model requests calls of tools. `content` is the message for the next `Turn`; `text` can be empty. */
  | { kind: 'tools'; content: string; text: string; calls: ToolCall[] }
  /**
   * The model requested a tool in a form that Bedrock could not read, or its answer to results of tools is empty, which
   * Claude models sometimes send. The note of a `Turn` asks it for another answer; do so once.
   */
  | { kind: 'malformed'; error: string }
  /** The model is overloaded. Retry while there is time. */
  | { kind: 'throttled' }
  /** A temporary fault. Retry once or twice; `error` is the message if all tries fail. */
  | { kind: 'faulty'; error: string }
  /**
   * A permanent failure. `error` is a fixed sentence without data of the AWS account. `isCutOff`: the answer reached the limit
   * of tokens.
   */
  | { kind: 'failed'; error: string; isCutOff?: true }
  /** The caller aborted the call. */
  | { kind: 'aborted' }
);

/** Asks a model once, and never throws. */
export type Model = (question: Question) => Promise<ModelAnswer>;

/**
 * The error of an answer by its stop reason. Bedrock returns more reasons than its client declares: `refusal` is a
 * reason of Anthropic.
 */
const stopped = new Map([
  ['max_tokens', 'The answer of the model was longer than it may be.'],
  ['model_context_window_exceeded', 'The input is too long for the model.'],
  ['content_filtered', 'The answer of the model was withheld by its content filter.'],
  ['guardrail_intervened', 'A guardrail stopped the model.'],
  ['refusal', 'The model refused to do this.'],
  ['tool_use', 'The model requested a tool, but no tools are available.'],
  ['malformed_tool_use', 'The model requested a tool, but no tools are available.'],
]);

const emptyAnswer = 'The answer of the model was empty.';
const malformedToolUse = 'The model requested a tool in a form that could not be read.';

/** The parts of a response that are used. Blocks of other kinds have no text. The client does not check types. */
const Output = v.object({ message: v.object({ content: v.array(v.object({ text: v.optional(v.string()) })) }) });
const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/**
 * The part of Bedrock's client that asks a model. `server` names a server of another protocol, which gets members of its
 * messages again that the service does not know.
 */
export type ConverseClient = Pick<BedrockRuntimeClient, 'send'> & { server?: string };

/**
 * Creates a model that uses the Converse operation of Amazon Bedrock
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html). It sets no sampling parameters, because
 * newer models reject them. A thinking model gets more tokens, because its thinking counts to the limit
 * and would leave none for a short answer.
 *
 * A question with tools is cached if the model supports it: the tools, the system prompt, and the conversation up to
 * its last message, which the next question of the conversation repeats.
 *
 * @param client without retries: only the caller knows how long it can wait
 * @param onFailure receives the original error. It belongs in the log and never in a response
 */
export function createConverseModel(client: ConverseClient, onFailure: (error: unknown) => void = () => {}): Model {
  return async (question) => {
    const { model, system, user, turns = [], tools = [], maxTokens, effort, signal } = question;
    const hasTools = tools.length > 0;
    const isCached = hasTools && supportsPromptCache(model);
    const messages = messagesOf(model, user, turns, client.server);
    if (isCached) addCachePoints(messages);
    const thinkingTokens = thinkingTokensOf(model, effort);
    // Bedrock rejects blank texts.
    const command = new ConverseCommand({
      modelId: model,
      ...(system.trim() !== '' && { system: [{ text: system }, ...(isCached ? [cachePoint] : [])] }),
      messages,
      inferenceConfig: { maxTokens: maxTokens + thinkingTokens },
      ...(thinkingTokens > 0 && effort && { outputConfig: { effort } }),
      ...(hasTools && { toolConfig: toolConfigOf(tools, isCached) }),
    });
    try {
      return answerOf(await client.send(command, { abortSignal: signal }), hasTools, turns.length > 0);
    } catch (error) {
      if (signal.aborted) return { tokens: 0, kind: 'aborted' };
      const failure = failureOf(error);
      if (failure.kind !== 'throttled') onFailure(error);
      return { tokens: 0, ...failure };
    }
  };
}

function answerOf(
  { output, stopReason, usage }: Partial<ConverseCommandOutput>,
  hasTools: boolean,
  hasTurns: boolean,
): ModelAnswer {
  const spent = spentTokens(usage);
  if (stopReason === undefined || stopReason === 'malformed_model_output') return { ...unreadableAnswer, ...spent };
  if (hasTools && stopReason === 'malformed_tool_use') return { kind: 'malformed', ...spent, error: malformedToolUse };
  if (stopReason !== 'end_turn' && stopReason !== 'stop_sequence' && !(hasTools && stopReason === 'tool_use'))
    return {
      kind: 'failed',
      ...spent,
      error: stopped.get(stopReason) ?? 'The model stopped for an unknown reason.',
      ...(stopReason === 'max_tokens' && { isCutOff: true as const }),
    };
  if (hasTools) {
    const message = readMessage(output?.message?.content);
    // Some models end with another reason after their calls.
    if (message && message.calls.length > 0) return { kind: 'tools', ...spent, ...message };
    if (!message || stopReason === 'tool_use') return { ...unreadableAnswer, ...spent };
  }
  const parsed = v.safeParse(Output, output);
  if (!parsed.success) return { ...unreadableAnswer, ...spent };
  const text = parsed.output.message.content.map((block) => block.text ?? '').join('');
  if (text.trim() === '') return { kind: hasTurns ? 'malformed' : 'failed', ...spent, error: emptyAnswer };
  return { kind: 'text', ...spent, text };
}

/**
 * Returns the tokens of a usage. The input tokens of Bedrock do not include tokens that were read from the cache or
 * written to it; the total has all (Amazon Bedrock User Guide, "Prompt caching for faster model inference").
 */
function spentTokens(usage: Partial<TokenUsage> = {}): Pick<ModelAnswer, 'tokens' | 'cached'> {
  const known = (count: unknown) => (v.is(Count, count) ? count : undefined);
  const [read, written] = [known(usage.cacheReadInputTokens) ?? 0, known(usage.cacheWriteInputTokens) ?? 0];
  const sum = (known(usage.inputTokens) ?? 0) + (known(usage.outputTokens) ?? 0) + read + written;
  const tokens = known(usage.totalTokens) ?? sum;
  return { tokens, ...(read + written > 0 && { cached: { read, written } }) };
}

import {
  type BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandOutput,
  type TokenUsage,
} from '@aws-sdk/client-bedrock-runtime';
import * as v from 'valibot';
import { thinkingTokensOf } from '../contract/models.ts';
import { failureOf, unreadable } from './failures.ts';

/** A question to a model. */
export type Question = {
  /** The id of the model in Bedrock. */
  model: string;
  /** The system prompt. It has the same bytes for the same agent, so that the start of a request can be cached. */
  system: string;
  /** The instruction, and all texts of callers and other agents. */
  user: string;
  /** The maximum number of tokens of the answer without the tokens for thinking. */
  maxTokens: number;
  /** The effort of a thinking model; its own default if absent. */
  effort?: 'low';
  /** Aborts the call. */
  signal: AbortSignal;
};

/** The outcome of a call, with the number of used tokens if it is known (otherwise 0). */
export type Answer = { tokens: number } & (
  | { kind: 'text'; text: string }
  /** The model is overloaded. Retry while there is time. */
  | { kind: 'throttled' }
  /** A temporary fault. Retry once or twice; `error` is the message if all tries fail. */
  | { kind: 'faulty'; error: string }
  /** A permanent failure. `error` is a fixed sentence without data of the AWS account. */
  | { kind: 'failed'; error: string }
  /** The caller aborted the call. */
  | { kind: 'aborted' }
);

/** Asks a model once, and never throws. */
export type Model = (question: Question) => Promise<Answer>;

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

/** The parts of a response that are used. Blocks of other kinds have no text. The client does not check types. */
const Output = v.object({ message: v.object({ content: v.array(v.object({ text: v.optional(v.string()) })) }) });
const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** The part of Bedrock's client that asks a model. */
export type ConverseClient = Pick<BedrockRuntimeClient, 'send'>;

/**
 * Creates a model that uses the Converse operation of Amazon Bedrock
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html). It sets no sampling parameters, because
 * newer models reject them, and no tools. A thinking model gets more tokens, because its thinking counts to the limit
 * and would leave none for a short answer.
 *
 * @param client without retries: only the caller knows how long it can wait
 * @param onFailure receives the original error. It belongs in the log and never in a response
 */
export function createConverseModel(client: ConverseClient, onFailure: (error: unknown) => void = () => {}): Model {
  return async ({ model, system, user, maxTokens, effort, signal }) => {
    const thinkingTokens = thinkingTokensOf(model);
    // Bedrock rejects blank texts.
    const command = new ConverseCommand({
      modelId: model,
      ...(system.trim() !== '' && { system: [{ text: system }] }),
      messages: [{ role: 'user', content: [{ text: user }] }],
      inferenceConfig: { maxTokens: maxTokens + thinkingTokens },
      ...(thinkingTokens > 0 && effort && { outputConfig: { effort } }),
    });
    try {
      return answerOf(await client.send(command, { abortSignal: signal }));
    } catch (error) {
      if (signal.aborted) return { tokens: 0, kind: 'aborted' };
      const failure = failureOf(error);
      if (failure.kind !== 'throttled') onFailure(error);
      return { tokens: 0, ...failure };
    }
  };
}

function answerOf({ output, stopReason, usage }: Partial<ConverseCommandOutput>): Answer {
  const tokens = tokensOf(usage);
  if (stopReason === undefined || stopReason === 'malformed_model_output') return { ...unreadable, tokens };
  if (stopReason !== 'end_turn' && stopReason !== 'stop_sequence')
    return {
      kind: 'failed',
      tokens,
      error: stopped.get(stopReason) ?? 'The model stopped for an unknown reason.',
    };
  const parsed = v.safeParse(Output, output);
  if (!parsed.success) return { ...unreadable, tokens };
  const text = parsed.output.message.content.map((block) => block.text ?? '').join('');
  if (text.trim() === '') return { kind: 'failed', tokens, error: 'The answer of the model was empty.' };
  return { kind: 'text', tokens, text };
}

function tokensOf(usage: Partial<TokenUsage> = {}): number {
  const known = (count: unknown) => (v.is(Count, count) ? count : undefined);
  return known(usage.totalTokens) ?? (known(usage.inputTokens) ?? 0) + (known(usage.outputTokens) ?? 0);
}

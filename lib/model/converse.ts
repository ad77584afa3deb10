import {
  type BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandOutput,
  type TokenUsage,
} from '@aws-sdk/client-bedrock-runtime';
import * as v from 'valibot';
import { thinkingTokensOf } from '../contract/models.ts';
import { failureOf, unreadable } from './failures.ts';

/** What a model is asked. */
export type Question = {
  /** The model as Bedrock knows it. */
  model: string;
  /** What it is to be, byte for byte the same for the same agent: the start of a request can then be cached. */
  system: string;
  /** What it is to do, and all texts that others have written. */
  user: string;
  /** The most tokens of the answer, without those that the model thinks. */
  maxTokens: number;
  /** How much a model that thinks is to think; as much as it does by itself where nothing is said. */
  effort?: 'low';
  /** Ends the call, whatever it has come to. */
  signal: AbortSignal;
};

/** What a call of a model came to, with the tokens that it cost as far as they are known. */
export type Answer = { tokens: number } & (
  | { kind: 'text'; text: string }
  /** The model takes no more just now: worth another try for as long as there is time. */
  | { kind: 'throttled' }
  /** A fault that may pass: worth another try or two. `error` is what to say if it does not. */
  | { kind: 'faulty'; error: string }
  /** It would fail the same way again. `error` is a fixed sentence that names nothing of the account. */
  | { kind: 'failed'; error: string }
  /** The caller has ended the call. */
  | { kind: 'aborted' }
);

/** Asks a model once. It never throws. */
export type Model = (question: Question) => Promise<Answer>;

/**
 * What an answer that is no text is called, by the reason that the model stopped for. Bedrock knows more reasons than
 * its client: `refusal` is Anthropic's own.
 */
const stopped = new Map([
  ['max_tokens', 'The answer of the model was longer than it may be.'],
  ['model_context_window_exceeded', 'The work is longer than the model can take in.'],
  ['content_filtered', 'The answer of the model was withheld by its content filter.'],
  ['guardrail_intervened', 'A guardrail stopped the model.'],
  ['refusal', 'The model refused to do this.'],
  ['tool_use', 'The model asked for a tool, and there is none.'],
  ['malformed_tool_use', 'The model asked for a tool, and there is none.'],
]);

/** The only parts of an answer that are read. Blocks of other kinds have no text, and the client checks no types. */
const Output = v.object({ message: v.object({ content: v.array(v.object({ text: v.optional(v.string()) })) }) });
const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** What of Bedrock's client asks a model. */
export type ConverseClient = Pick<BedrockRuntimeClient, 'send'>;

/**
 * Opens the models of Amazon Bedrock by its Converse operation
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html). Sampling is left to the model, since newer
 * ones refuse its parameters, and no tool is offered. A model that thinks is given tokens for that: its thinking counts
 * to the same limit, and would leave none for a short answer.
 *
 * @param client one that does not try again by itself: who asks knows how long it can wait
 * @param onFailure is told what Bedrock or the way to it said, in its own words: for a log, and for no caller
 */
export function openModel(client: ConverseClient, onFailure: (error: unknown) => void = () => {}): Model {
  return async ({ model, system, user, maxTokens, effort, signal }) => {
    const thinkingTokens = thinkingTokensOf(model);
    // Bedrock takes no text that is blank.
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
      error: stopped.get(stopReason) ?? 'The model stopped for a reason that is not known.',
    };
  const read = v.safeParse(Output, output);
  if (!read.success) return { ...unreadable, tokens };
  const text = read.output.message.content.map((block) => block.text ?? '').join('');
  if (text.trim() === '') return { kind: 'failed', tokens, error: 'The answer of the model was empty.' };
  return { kind: 'text', tokens, text };
}

function tokensOf(usage: Partial<TokenUsage> = {}): number {
  const known = (count: unknown) => (v.is(Count, count) ? count : undefined);
  return known(usage.totalTokens) ?? (known(usage.inputTokens) ?? 0) + (known(usage.outputTokens) ?? 0);
}

import type { ConverseCommand, ConverseCommandOutput } from '@aws-sdk/client-bedrock-runtime';
import * as v from 'valibot';
import type { ConverseClient } from '../../../lib/model/converse.ts';
import { ModelServerError } from '../../../lib/model/failures.ts';
import { type BedrockError, bedrockErrorOf } from './bedrock-errors.ts';

/** A request to a model, with the fields that the service sends. */
export type Request = { model: string; system: string; user: string; maxTokens: number };

/** The reply of a model, in Bedrock's terms. */
export type Reply =
  | { kind: 'answer'; text: string; stopReason: string; tokens?: { input: number; output: number } }
  | { kind: 'error'; name: BedrockError; message?: string }
  /** A response that is not valid JSON. */
  | { kind: 'malformed' };

/**
 * A model that this process calls itself. `signal` aborts when the caller no longer waits. It may throw a
 * `ModelServerError`, whose message callers get.
 */
export type LocalModel = (request: Request, signal: AbortSignal) => Promise<Reply>;

/** Bedrock rejects blank text. */
const Text = v.object({ text: v.pipe(v.string(), v.regex(/\S/)) });

/** The fields that the service sends. All other fields of Converse are rejected, so that no test relies on ignored ones. */
const Input = v.strictObject({
  modelId: v.string(),
  system: v.optional(v.strictTuple([Text])),
  messages: v.strictTuple([v.strictObject({ role: v.literal('user'), content: v.strictTuple([Text]) })]),
  inferenceConfig: v.strictObject({ maxTokens: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  outputConfig: v.optional(v.strictObject({ effort: v.literal('low') })),
});

/**
 * Returns a client of Bedrock's Converse operation that calls a model of this process. It validates requests, answers and
 * fails as Bedrock's own client does, but without the connection and the middleware, which take most of the processor
 * time of a call.
 */
export function converseClient(model: LocalModel): ConverseClient {
  const send = async ({ input }: ConverseCommand, { abortSignal }: { abortSignal: AbortSignal }) => {
    const reply = await replyTo(input, model, abortSignal);
    abortSignal.throwIfAborted();
    return outputOf(reply);
  };
  return { send } as ConverseClient;
}

async function replyTo(input: object, model: LocalModel, signal: AbortSignal): Promise<Reply> {
  const read = v.safeParse(Input, input);
  if (!read.success) return { kind: 'error', name: 'ValidationException' };
  const { modelId, system, messages, inferenceConfig } = read.output;
  const request = {
    model: modelId,
    system: system?.[0].text ?? '',
    user: messages[0].content[0].text,
    maxTokens: inferenceConfig.maxTokens,
  };
  // The message of another error is not passed on, because it may contain a key.
  return model(request, signal).catch((error: unknown): Reply => {
    if (error instanceof ModelServerError) throw error;
    return { kind: 'error', name: 'InternalServerException' };
  });
}

function outputOf(reply: Reply): Partial<ConverseCommandOutput> {
  if (reply.kind === 'malformed') throw failure(200, 'SyntaxError', 'Unterminated string in JSON');
  if (reply.kind === 'error') {
    const { status, message } = bedrockErrorOf(reply.name);
    throw failure(status, reply.name, reply.message ?? message);
  }
  const { text, stopReason, tokens } = reply;
  return {
    output: { message: { role: 'assistant', content: [{ text }] } },
    stopReason: stopReason as ConverseCommandOutput['stopReason'],
    ...(tokens && {
      usage: { inputTokens: tokens.input, outputTokens: tokens.output, totalTokens: tokens.input + tokens.output },
    }),
  };
}

/** Returns the error that Bedrock's client throws for a response. */
function failure(httpStatusCode: number, name: string, message: string): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode } });
}

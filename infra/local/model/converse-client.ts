import type { ConverseCommand, ConverseCommandOutput } from '@aws-sdk/client-bedrock-runtime';
import * as v from 'valibot';
import type { ConverseClient } from '../../../lib/model/converse.ts';
import { type BedrockError, wordsOf } from './bedrock-errors.ts';

/** What a model is asked, as the model port asks it. */
export type Request = { model: string; system: string; user: string; maxTokens: number };

/** What came of it, in Bedrock's terms. */
export type Reply =
  | { kind: 'answer'; text: string; stopReason: string; tokens?: { input: number; output: number } }
  | { kind: 'error'; name: BedrockError; message?: string }
  /** An answer that breaks off. */
  | { kind: 'malformed' };

/** A model of this machine. `signal` aborts once nobody waits for the answer any more. */
export type LocalModel = (request: Request, signal: AbortSignal) => Promise<Reply>;

/** Bedrock takes no text that is blank. */
const Text = v.object({ text: v.pipe(v.string(), v.regex(/\S/)) });

/** What the model port sends; whatever else Converse knows is refused, so that no test passes by what is ignored. */
const Input = v.strictObject({
  modelId: v.string(),
  system: v.optional(v.strictTuple([Text])),
  messages: v.strictTuple([v.strictObject({ role: v.literal('user'), content: v.strictTuple([Text]) })]),
  inferenceConfig: v.strictObject({ maxTokens: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  outputConfig: v.optional(v.strictObject({ effort: v.literal('low') })),
});

/**
 * Returns a client of Bedrock's Converse operation that asks a model in this process. It checks requests, answers and
 * fails as Bedrock's own client does, without the connection and the middleware that take most of a call's processor
 * time.
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
  const question = {
    model: modelId,
    system: system?.[0].text ?? '',
    user: messages[0].content[0].text,
    maxTokens: inferenceConfig.maxTokens,
  };
  // A fault of the model's own may quote a key.
  return model(question, signal).catch((): Reply => ({ kind: 'error', name: 'InternalServerException' }));
}

function outputOf(reply: Reply): Partial<ConverseCommandOutput> {
  if (reply.kind === 'malformed') throw failure(200, 'SyntaxError', 'Unterminated string in JSON');
  if (reply.kind === 'error') {
    const { status, message } = wordsOf(reply.name);
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

/** The error that Bedrock's client throws for a response. */
function failure(httpStatusCode: number, name: string, message: string): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode } });
}

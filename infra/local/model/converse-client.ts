import type { ContentBlock, ConverseCommand, ConverseCommandOutput } from '@aws-sdk/client-bedrock-runtime';
import * as v from 'valibot';
import type { Effort } from '../../../lib/contract/agents/models.ts';
import type { ConverseClient, ToolCall, ToolDefinition, ToolResult } from '../../../lib/model/converse.ts';
import { ModelServerError } from '../../../lib/model/failures.ts';
import type { ServerMembers } from '../../../lib/model/turns.ts';
import { type BedrockError, bedrockErrorOf } from './bedrock-errors.ts';
import { ConverseInput, inputError, type Message } from './converse-input.ts';

/** A message of a conversation after the first one: of the model with its calls, or of the user with their results. */
export type LaterMessage =
  | { role: 'assistant'; text: string; calls: (ToolCall & { input: object })[]; members?: ServerMembers }
  | { role: 'user'; text: string; results: ToolResult[] };

/** A request to a model, with the fields that the service sends. */
export type ModelRequest = {
  model: string;
  system: string;
  /** The first user message. */
  user: string;
  /** The messages after the first one, in turns of the model and the user. */
  later: LaterMessage[];
  tools: ToolDefinition[];
  /** The maximum number of tokens of the answer, with those for the thinking of a thinking model. */
  maxTokens: number;
  effort?: Effort;
};

/** A call that a model requests. Its input may be invalid: models of Bedrock return any JSON. */
export type RequestedCall = { id: string; name: string; input: unknown };

/** The reply of a model, in Bedrock's terms. */
export type Reply =
  | {
      kind: 'answer';
      text: string;
      calls?: RequestedCall[];
      /** What the next request to the same server must have besides the text and the calls. */
      members?: ServerMembers;
      stopReason: string;
      tokens?: { input: number; output: number };
    }
  | { kind: 'error'; name: BedrockError; message?: string }
  /** A response that is not valid JSON. */
  | { kind: 'malformed' };

/**
 * A model that this process calls itself. `signal` aborts when the caller no longer waits. It may throw a
 * `ModelServerError`, whose message callers get.
 */
export type LocalModel = (request: ModelRequest, signal: AbortSignal) => Promise<Reply>;

/**
 * Returns a client of Bedrock's Converse operation that calls a model of this process. It validates requests, answers and
 * fails as Bedrock's own client does, but without the connection and the middleware, which take most of the processor
 * time of a call.
 *
 * @param server the server that gets the members of its messages again
 */
export function converseClient(model: LocalModel, server?: string): ConverseClient {
  const send = async ({ input }: ConverseCommand, { abortSignal }: { abortSignal: AbortSignal }) => {
    const reply = await replyTo(input, model, abortSignal);
    abortSignal.throwIfAborted();
    return outputOf(reply);
  };
  return { send, ...(server !== undefined && { server }) } as ConverseClient;
}

async function replyTo(input: object, model: LocalModel, signal: AbortSignal): Promise<Reply> {
  const read = v.safeParse(ConverseInput, input);
  if (!read.success) return { kind: 'error', name: 'ValidationException' };
  const problem = inputError(read.output);
  if (problem) return { kind: 'error', ...problem };
  const { modelId, system = [], messages, inferenceConfig, outputConfig, toolConfig } = read.output;
  const [first, ...later] = messages as [Message, ...Message[]];
  const request: ModelRequest = {
    model: modelId,
    system: textOf(system),
    user: textOf(first.content),
    later: later.map(laterMessage),
    tools: (toolConfig?.tools ?? []).flatMap((tool) =>
      'toolSpec' in tool ? [{ ...tool.toolSpec, inputSchema: tool.toolSpec.inputSchema.json }] : [],
    ),
    maxTokens: inferenceConfig.maxTokens,
    ...outputConfig,
  };
  // The message of another error is not passed on, because it may contain a key.
  return model(request, signal).catch((error: unknown): Reply => {
    if (error instanceof ModelServerError) throw error;
    return { kind: 'error', name: 'InternalServerException' };
  });
}

/** Returns the texts of blocks, each as a paragraph of its own. */
const textOf = (blocks: readonly object[]) =>
  blocks.flatMap((block) => ('text' in block ? [block.text] : [])).join('\n\n');

function laterMessage({ role, content }: Message): LaterMessage {
  const text = textOf(content);
  if (role === 'assistant') {
    const calls = content.flatMap((block) => ('toolUse' in block ? [block.toolUse] : []));
    const members = content.find((block) => 'serverMembers' in block)?.serverMembers;
    return {
      ...{ role, text, calls: calls.map(({ toolUseId, name, input }) => ({ id: toolUseId, name, input })) },
      ...(members && { members }),
    };
  }
  const results = content.flatMap((block) => ('toolResult' in block ? [block.toolResult] : []));
  const resultOf = ({ toolUseId, content: output, status }: (typeof results)[number]) => ({
    id: toolUseId,
    output: textOf(output),
    isError: status === 'error',
  });
  return { role, text, results: results.map(resultOf) };
}

function outputOf(reply: Reply): Partial<ConverseCommandOutput> {
  if (reply.kind === 'malformed') throw failure(200, 'SyntaxError', 'Unterminated string in JSON');
  if (reply.kind === 'error') {
    const { status, message } = bedrockErrorOf(reply.name);
    throw failure(status, reply.name, reply.message ?? message);
  }
  const { text, calls = [], members, stopReason, tokens } = reply;
  const toolUses = calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } }));
  const blocks = text === '' && calls.length > 0 ? toolUses : [{ text }, ...toolUses];
  const content = [...blocks, ...(members ? [{ serverMembers: members }] : [])];
  return {
    output: { message: { role: 'assistant', content: content as ContentBlock[] } },
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

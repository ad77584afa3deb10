import * as v from 'valibot';
import { formerStandardModels, thinkingTokensOf } from '../../../lib/contract/models.ts';
import type { BedrockError } from './bedrock-errors.ts';
import type { LocalModel, Reply, Request } from './converse-client.ts';

/** A server of the OpenAI chat protocol. */
export type ChatServer = {
  /** The default model of agents. */
  defaultModel: string;
  /** The base URL of the protocol, without a slash at the end. */
  baseUrl: string;
  /** The bearer token. It must not appear in errors. */
  apiKey: string | undefined;
  /** The server's name of the default model; unset: the first model of the server. */
  name: string | undefined;
  /** Returns a signal that aborts when a whole answer has taken too long. */
  startDeadline?: () => AbortSignal;
};

/** The longest time of an answer. A model on a small machine is slow; `fetch` itself times out after five minutes. */
const deadlineMs = 240_000;

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** The fields that are read of a chat completion (platform.openai.com/docs/api-reference/chat/object). */
const Completion = v.object({
  choices: v.tupleWithRest(
    [v.object({ message: v.object({ content: v.nullish(v.string(), '') }), finish_reason: v.string() })],
    v.unknown(),
  ),
  usage: v.fallback(v.nullish(v.object({ prompt_tokens: Count, completion_tokens: Count })), undefined),
});

const Models = v.object({ data: v.array(v.object({ id: v.string() })) });

/** The stop reasons of Converse for those of the chat protocol. All others stay unchanged. */
const stopReasons = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['content_filter', 'content_filtered'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
]);

/** The errors of Bedrock for the error statuses of the server. */
const errorsByStatus = new Map<number, BedrockError>([
  [401, 'AccessDeniedException'],
  [402, 'AccessDeniedException'],
  [403, 'AccessDeniedException'],
  [404, 'ResourceNotFoundException'],
  [408, 'ModelTimeoutException'],
  [429, 'ThrottlingException'],
  [502, 'ServiceUnavailableException'],
  [503, 'ServiceUnavailableException'],
  [504, 'ModelTimeoutException'],
]);

/** An error of a call to the server, with the name of the corresponding error of Bedrock. */
class ChatError extends Error {
  readonly reason: BedrockError;
  constructor(reason: BedrockError) {
    super();
    this.reason = reason;
  }
}

/**
 * Creates a model that calls a server of the OpenAI chat protocol, such as Ollama or vLLM. It replaces the default model by
 * the server's model `name`. It sends every other model id unchanged, so that agents can choose among the server's models;
 * the server rejects an unknown one. Error messages of the server are not passed on.
 */
export function createChatModel(server: ChatServer): LocalModel {
  // Agents of earlier versions have the default model of those versions.
  const isDefault = (model: string) => [server.defaultModel, ...formerStandardModels].includes(model);
  const { name, startDeadline = () => AbortSignal.timeout(deadlineMs) } = server;
  return async (request, signal) => {
    const limited = AbortSignal.any([signal, startDeadline()]);
    try {
      const model = isDefault(request.model) ? (name ?? (await firstModel(server, limited))) : request.model;
      return replyOf(await call(server, '/chat/completions', Completion, limited, chatRequest(model, request)));
    } catch (error) {
      return { kind: 'error', name: error instanceof ChatError ? error.reason : 'InternalServerException' };
    }
  };
}

/** Returns the first model of the server. Not cached: models change, and the server may have none yet at the start. */
async function firstModel(server: ChatServer, signal: AbortSignal): Promise<string> {
  const { data } = await call(server, '/models', Models, signal);
  if (!data[0]) throw new ChatError('ResourceNotFoundException');
  return data[0].id;
}

function chatRequest(serverModel: string, { model, system, user, maxTokens }: Request) {
  const messages = [...(system === '' ? [] : [{ role: 'system', content: system }]), { role: 'user', content: user }];
  // `max_tokens` is deprecated at OpenAI, but not all other servers know its successor.
  // `maxTokens` includes tokens for the thinking of the named model, but another model answers here.
  return { model: serverModel, messages, max_tokens: maxTokens - thinkingTokensOf(model), stream: false };
}

function replyOf({ choices: [{ message, finish_reason }], usage }: v.InferOutput<typeof Completion>): Reply {
  return {
    kind: 'answer',
    text: message.content,
    stopReason: stopReasons.get(finish_reason) ?? finish_reason,
    ...(usage && { tokens: { input: usage.prompt_tokens, output: usage.completion_tokens } }),
  };
}

/**
 * Sends a request to the server, and reads the response. Sends a POST if there is a body, otherwise a GET.
 *
 * @throws `ChatError` for every failure
 */
async function call<Schema extends v.GenericSchema>(
  { baseUrl, apiKey }: ChatServer,
  path: string,
  schema: Schema,
  signal: AbortSignal,
  body?: unknown,
): Promise<v.InferOutput<Schema>> {
  const headers = { 'Content-Type': 'application/json', ...(apiKey && { Authorization: `Bearer ${apiKey}` }) };
  const posted = body !== undefined && { method: 'POST', body: JSON.stringify(body) };
  try {
    // A redirect is not followed, because only this server may receive the key.
    const response = await fetch(baseUrl + path, { headers, signal, redirect: 'manual', ...posted });
    const text = await response.text();
    if (!response.ok) throw new ChatError(errorOf(response.status));
    const read = v.safeParse(schema, JSON.parse(text));
    if (!read.success) throw new ChatError('ModelErrorException');
    return read.output;
  } catch (error) {
    if (error instanceof ChatError) throw error;
    if (signal.aborted) throw new ChatError('ModelTimeoutException');
    throw new ChatError(error instanceof SyntaxError ? 'ModelErrorException' : 'ServiceUnavailableException');
  }
}

const errorOf = (status: number): BedrockError =>
  errorsByStatus.get(status) ?? (status >= 400 && status < 500 ? 'ValidationException' : 'ModelErrorException');

import * as v from 'valibot';
import { formerStandardModels, thinkingTokensOf } from '../../../lib/contract/models.ts';
import { ModelServerError } from '../../../lib/model/failures.ts';
import { codeOf } from '../problem.ts';
import type { BedrockError } from './bedrock-errors.ts';
import type { LaterMessage, LocalModel, Reply, Request, RequestedCall } from './converse-client.ts';

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

/** A call of a function. Servers should send an id and the arguments as JSON text, but not all do. */
const FunctionCall = v.object({
  id: v.nullish(v.string(), ''),
  function: v.object({ name: v.string(), arguments: v.optional(v.unknown()) }),
});

/** The tokens of a chat completion, also of one whose answer cannot be read. */
const Usage = v.fallback(v.nullish(v.object({ prompt_tokens: Count, completion_tokens: Count })), undefined);
const Counted = v.fallback(v.object({ usage: Usage }), { usage: undefined });

/** The fields that are read of a chat completion (platform.openai.com/docs/api-reference/chat/object). */
const Completion = v.object({
  choices: v.tupleWithRest(
    [
      v.object({
        message: v.object({
          content: v.nullish(v.string(), ''),
          tool_calls: v.nullish(v.array(FunctionCall), []),
        }),
        finish_reason: v.string(),
      }),
    ],
    v.unknown(),
  ),
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

/** The stop reason of Converse for an output that cannot be read. */
const unreadableOutput = 'malformed_model_output';

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

/** What servers answer if a model cannot call functions. */
const withoutTools = /not support (?:tools|tool use|function calling)|enable-auto-tool-choice/i;

/** What Bedrock answers in that case. */
const noToolSupport = "This model doesn't support tool use.";

/** An error of a call to the server, with the name of the corresponding error of Bedrock. */
class ChatError extends Error {
  readonly reason: BedrockError;
  constructor(reason: BedrockError, message?: string) {
    super(message);
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
      return replyOf(
        request,
        await call(server, '/chat/completions', v.unknown(), limited, chatRequest(model, request)),
      );
    } catch (error) {
      if (error instanceof ModelServerError) throw error;
      if (!(error instanceof ChatError)) return { kind: 'error', name: 'InternalServerException' };
      return { kind: 'error', name: error.reason, ...(error.message && { message: error.message }) };
    }
  };
}

/** How long the check at the start waits for the server. */
const checkedWithinMs = 3_000;

/**
 * Checks whether the server answers and has a model.
 *
 * @returns what is wrong, as a sentence without the key; `undefined` if nothing is
 */
export async function checkChatServer(server: ChatServer): Promise<string | undefined> {
  try {
    await firstModel(server, AbortSignal.timeout(checkedWithinMs));
    return undefined;
  } catch (error) {
    if (error instanceof ModelServerError) return error.message;
    const { reason } = error as ChatError;
    const at = `The model server at ${server.baseUrl}`;
    if (reason === 'AccessDeniedException') return `${at} rejects the key; set MODEL_API_KEY.`;
    if (reason === 'ModelTimeoutException') return `${at} did not answer within ${checkedWithinMs / 1000} s.`;
    // A server need not list its models if the model is named.
    if (server.name !== undefined) return undefined;
    return `${at} lists no model; check the path, which usually ends with /v1, or set MODEL_NAME.`;
  }
}

/** Returns the first model of the server. Not cached: models change, and the server may have none yet at the start. */
async function firstModel(server: ChatServer, signal: AbortSignal): Promise<string> {
  const { data } = await call(server, '/models', Models, signal);
  if (!data[0]) throw new ChatError('ResourceNotFoundException');
  return data[0].id;
}

function chatRequest(serverModel: string, { model, system, user, later, tools, maxTokens, effort }: Request) {
  const messages = [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: user },
    ...later.flatMap(chatMessages),
  ];
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
  // `max_tokens` is deprecated at OpenAI, but not all other servers know its successor.
  // `maxTokens` includes tokens for the thinking of the named model, but another model answers here.
  const max_tokens = maxTokens - thinkingTokensOf(model, effort);
  return { model: serverModel, messages, ...(functions.length > 0 && { tools: functions }), max_tokens, stream: false };
}

/** Returns a message in the chat protocol, in which each result of a call is a message of its own. */
function chatMessages(message: LaterMessage): object[] {
  const { text } = message;
  if (message.role === 'user') {
    const results = message.results.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output }));
    return [...results, ...(text === '' ? [] : [{ role: 'user', content: text }])];
  }
  const calls = message.calls.map(({ id, name, input }) => ({
    ...{ id, type: 'function' },
    function: { name, arguments: JSON.stringify(input) },
  }));
  // Some servers reject a message without text, and some an empty list of calls.
  return [{ role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) }];
}

/** Returns the reply for a completion. One that cannot be read is paid for, too. */
function replyOf({ tools, later }: Request, completion: unknown): Reply {
  const { usage } = v.parse(Counted, completion);
  const tokens = usage && { tokens: { input: usage.prompt_tokens, output: usage.completion_tokens } };
  const read = v.safeParse(Completion, completion);
  if (!read.success) return { kind: 'answer', text: '', stopReason: unreadableOutput, ...tokens };
  const [{ message, finish_reason }] = read.output.choices;
  const calls = tools.length > 0 ? callsOf(message.tool_calls, later) : [];
  const stopReason = stopReasons.get(finish_reason) ?? finish_reason;
  return {
    kind: 'answer',
    text: message.content,
    ...(calls.length > 0 && { calls }),
    // Some servers finish with `stop` after calls.
    stopReason: calls.length > 0 && stopReason === 'end_turn' ? 'tool_use' : stopReason,
    ...tokens,
  };
}

/** Returns the calls of a message. A call whose id is missing, invalid in Bedrock or used twice gets an id of its own. */
function callsOf(
  received: readonly v.InferOutput<typeof FunctionCall>[],
  later: readonly LaterMessage[],
): RequestedCall[] {
  const used = new Set(
    later.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id }) => id) : [])),
  );
  return received.map(({ id, function: { name, arguments: input } }, at) => {
    const isUsable = /^[\w-]{1,64}$/.test(id) && !used.has(id);
    const ownId = isUsable ? id : `call_${later.length}_${at}`;
    used.add(ownId);
    return { id: ownId, name, input };
  });
}

/**
 * Sends a request to the server, and reads the response. Sends a POST if there is a body, otherwise a GET.
 *
 * @throws `ModelServerError` if no response came; `ChatError` for every other failure
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
    if (!response.ok) throw errorOf(response.status, text);
    const read = v.safeParse(schema, JSON.parse(text));
    if (!read.success) throw new ChatError('ModelErrorException');
    return read.output;
  } catch (error) {
    if (error instanceof ChatError) throw error;
    if (signal.aborted) throw new ChatError('ModelTimeoutException');
    if (error instanceof SyntaxError) throw new ChatError('ModelErrorException');
    throw new ModelServerError(`The model server at ${baseUrl} does not answer: ${causeOf(error as Error)}.`);
  }
}

/** Returns the cause of a failed `fetch`. The error of a name with several addresses has a code and no message. */
function causeOf({ cause, message }: Error): string {
  return (cause instanceof Error && cause.message) || codeOf(cause) || message;
}

/** Returns the error of a response. The text of the server is not passed on, because it may contain a key. */
function errorOf(status: number, text: string): ChatError {
  const isRejected = status >= 400 && status < 500;
  const name = errorsByStatus.get(status) ?? (isRejected ? 'ValidationException' : 'ModelErrorException');
  return new ChatError(name, isRejected && withoutTools.test(text) ? noToolSupport : undefined);
}

import * as v from 'valibot';
import { formerStandardModels, thinkingTokensOf } from '../../../lib/contract/agents/models.ts';
import { ModelServerError } from '../../../lib/model/failures.ts';
import type { ServerMembers } from '../../../lib/model/turns.ts';
import { codeOf } from '../../problem.ts';
import type { BedrockError } from './bedrock-errors.ts';
import type { LaterMessage, LocalModel, ModelRequest, Reply, RequestedCall } from './converse-client.ts';

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
  /** The most tokens of an answer; unset: as many as a question allows. */
  maxTokens?: number | undefined;
  /** Returns a signal that aborts when a whole answer has taken too long. */
  startDeadline?: () => AbortSignal;
};

/** The longest time of an answer. A model on a small machine is slow; `fetch` itself times out after five minutes. */
const deadlineMs = 240_000;

const Count = v.fallback(v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))), undefined);

/** A call of a function. Servers should send a text as id and the arguments as JSON text, but not all do. */
const FunctionCall = v.looseObject({
  id: v.optional(v.unknown()),
  function: v.looseObject({ name: v.string(), arguments: v.optional(v.unknown()) }),
});
type FunctionCall = v.InferOutput<typeof FunctionCall>;

/** The tokens of a chat completion, also of one whose answer cannot be read. */
const Usage = v.object({ prompt_tokens: Count, completion_tokens: Count, total_tokens: Count });
const Counted = v.fallback(v.object({ usage: v.fallback(v.optional(Usage), undefined) }), { usage: undefined });

/** The fields that are read of a chat completion (platform.openai.com/docs/api-reference/chat/object). */
const Completion = v.object({
  choices: v.tupleWithRest(
    [
      v.object({
        message: v.looseObject({
          content: v.optional(v.unknown()),
          tool_calls: v.nullish(v.array(FunctionCall), []),
        }),
        finish_reason: v.optional(v.unknown()),
      }),
    ],
    v.unknown(),
  ),
});

const Models = v.object({ data: v.array(v.object({ id: v.string() })) });

/** Models whose names say that they do not answer questions. */
const isForSearch = (id: string) => /embed|rerank/i.test(id);

/** The stop reason of Converse for an output that cannot be read. */
const unreadableOutput = 'malformed_model_output';

/**
 * The stop reasons of Converse for the names with which servers say that an answer is not whole. Every other name, such as
 * `eos_token`, and none, is the end of an answer.
 */
const stopReasons = new Map([
  ...['length', 'max_tokens', 'max_length', 'model_length', 'max_output_tokens'].map(
    (name) => [name, 'max_tokens'] as const,
  ),
  ...['content_filter', 'content_filtered', 'safety', 'prohibited_content'].map(
    (name) => [name, 'content_filtered'] as const,
  ),
  ['refusal', 'refusal'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['malformed_function_call', 'malformed_tool_use'],
  ['error', unreadableOutput],
  ['insufficient_system_resource', unreadableOutput],
]);

/** The errors of Bedrock for the error statuses of the server. */
const errorsByStatus = new Map<number, BedrockError>([
  [401, 'AccessDeniedException'],
  [403, 'AccessDeniedException'],
  [404, 'ResourceNotFoundException'],
  [408, 'ModelTimeoutException'],
  [429, 'ThrottlingException'],
  [502, 'ModelErrorException'],
  [503, 'ThrottlingException'],
  [504, 'ModelTimeoutException'],
  [529, 'ThrottlingException'],
]);

/** What servers answer if a model cannot call functions. */
const withoutTools = /not support (?:tools|tool use|function calling)|enable-auto-tool-choice/i;

/** What Bedrock answers in that case. */
const noToolSupport = "This model doesn't support tool use.";

/** The error that a server has sent: the whole body, and its type, parameter and code. */
type SentError = { text: string; names: string };

const Named = v.fallback(v.optional(v.union([v.string(), v.number()])), undefined);
const Names = v.object({ type: Named, param: Named, code: Named });
const ErrorBody = v.union([
  v.pipe(
    v.object({ error: Names }),
    v.transform(({ error }) => error),
  ),
  Names,
]);

function sentError(text: string): SentError {
  const { type = '', param = '', code = '' } = v.is(ErrorBody, jsonOf(text)) ? v.parse(ErrorBody, jsonOf(text)) : {};
  return { text, names: [type, param, code].join(' ') };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a server refuses the parameter `max_tokens` itself. A server that refuses its value, because question and
 * answer are too long together, often names both parameters.
 */
function refusesMaxTokens({ text, names }: SentError): boolean {
  if (!/\bmax_tokens\b/.test(text) || tooLong.test(text)) return false;
  return (
    /unsupported|unknown|unrecognized/i.test(names) ||
    /\b(?:use|using)\b.{0,20}max_completion_tokens/i.test(text) ||
    /not (?:supported|permitted|allowed)|unsupported|unknown|unrecognized|extra inputs/i.test(text)
  );
}

/** What servers answer to a question that does not fit into the model, alone or together with its answer. */
const tooLong =
  /too long|context[ _](?:length|window|size)|context_length_exceeded|too many (?:input )?tokens|exceeds? .{0,60}\btokens\b|model'?s context/i;

/** An error of a call to the server, with the name of the corresponding error of Bedrock. */
class ChatError extends Error {
  readonly reason: BedrockError;
  /** What the server has sent. It may contain a key. */
  readonly sent: SentError;
  constructor(reason: BedrockError, message?: string, sent: SentError = { text: '', names: '' }) {
    super(message);
    this.reason = reason;
    this.sent = sent;
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
  /** The models for which the server has refused `max_tokens`, until the process ends. */
  const withNewName = new Set<string>();
  const complete = async (model: string, request: ModelRequest, signal: AbortSignal): Promise<unknown> => {
    const send = () =>
      call(
        server,
        '/chat/completions',
        v.unknown(),
        signal,
        chatRequest(server, model, request, withNewName.has(model)),
      );
    try {
      return await send();
    } catch (error) {
      if (withNewName.has(model) || !(error instanceof ChatError) || !refusesMaxTokens(error.sent)) throw error;
      withNewName.add(model);
      return send();
    }
  };
  return async (request, signal) => {
    const limited = AbortSignal.any([signal, startDeadline()]);
    try {
      const model = isDefault(request.model) ? (name ?? (await firstModel(server, limited))) : request.model;
      return replyOf(server, request, await complete(model, request, limited));
    } catch (error) {
      if (error instanceof ModelServerError) throw error;
      // The server could not read the call that its model has written.
      if (error instanceof ChatError && isFailedCall(error.sent))
        return { kind: 'answer', text: '', stopReason: 'malformed_tool_use' };
      if (!(error instanceof ChatError)) return { kind: 'error', name: 'InternalServerException' };
      return { kind: 'error', name: error.reason, ...(error.message && { message: error.message }) };
    }
  };
}

/** How long the check at the start waits for the server. */
const checkedWithinMs = 3_000;

/** The result of the check at the start: what is wrong, as a sentence without the key, or the model that answers. */
export type ServerCheck = { problem: string } | { model: string | undefined };

/** Checks whether the server answers and has a model. `model` is `undefined` if the server does not list its models. */
export async function checkChatServer(server: ChatServer): Promise<ServerCheck> {
  try {
    const first = await firstModel(server, AbortSignal.timeout(checkedWithinMs));
    return { model: server.name ?? first };
  } catch (error) {
    if (error instanceof ModelServerError) return { problem: error.message };
    const { reason } = error as ChatError;
    const at = `The model server at ${server.baseUrl}`;
    if (reason === 'AccessDeniedException') return { problem: `${at} rejects the key; set MODEL_API_KEY.` };
    if (reason === 'ModelTimeoutException')
      return { problem: `${at} did not answer within ${checkedWithinMs / 1000} s.` };
    // A server need not list its models if the model is named.
    if (server.name !== undefined) return { model: server.name };
    return {
      problem: `${at} lists no model that answers questions; check the path, which usually ends with /v1, or set MODEL_NAME.`,
    };
  }
}

/**
 * Returns the first model of the server that is not for search. Not cached: models change, and the server may have none yet
 * at the start.
 */
async function firstModel(server: ChatServer, signal: AbortSignal): Promise<string> {
  const { data } = await call(server, '/models', Models, signal);
  const found = data.find(({ id }) => !isForSearch(id));
  if (!found) throw new ChatError('ResourceNotFoundException');
  return found.id;
}

function chatRequest(
  { maxTokens: most = Number.POSITIVE_INFINITY }: ChatServer,
  serverModel: string,
  { model, system, user, later, tools, maxTokens, effort }: ModelRequest,
  hasNewName: boolean,
) {
  const messages = [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: user },
    ...later.flatMap(chatMessages),
  ];
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
  // `maxTokens` includes tokens for the thinking of the named model, but another model answers here.
  const limit = Math.min(maxTokens - thinkingTokensOf(model, effort), most);
  return {
    ...{ model: serverModel, messages, ...(functions.length > 0 && { tools: functions }) },
    // `max_tokens` is deprecated at OpenAI, but not all other servers know its successor.
    ...(hasNewName ? { max_completion_tokens: limit } : { max_tokens: limit }),
    stream: false,
  };
}

/** Returns a message in the chat protocol, in which each result of a call is a message of its own. */
function chatMessages(message: LaterMessage): object[] {
  const { text } = message;
  if (message.role === 'user') {
    const results = message.results.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output }));
    return [...results, ...(text === '' ? [] : [{ role: 'user', content: text }])];
  }
  const { message: members, calls: membersOfCalls = [] } = message.members ?? {};
  const calls = message.calls.map(({ id, name, input }, at) => {
    const { function: ofFunction, ...ofCall } = membersOfCalls[at] ?? {};
    return {
      ...{ ...ofCall, id, type: 'function' },
      function: { ...(ofFunction as object), name, arguments: JSON.stringify(input) },
    };
  });
  // Some servers reject a message without text, and some an empty list of calls.
  return [{ role: 'assistant', content: text, ...members, ...(calls.length > 0 && { tool_calls: calls }) }];
}

/** Returns the reply for a completion. One that cannot be read is paid for, too. */
function replyOf(server: ChatServer, { tools, later }: ModelRequest, completion: unknown): Reply {
  const tokens = tokensOf(completion);
  const read = v.safeParse(Completion, completion);
  if (!read.success) return { kind: 'answer', text: '', stopReason: unreadableOutput, ...tokens };
  const [{ message, finish_reason: reason }] = read.output.choices;
  const received = tools.length > 0 ? (message.tool_calls ?? []) : [];
  const calls = callsOf(received, later);
  const text = withoutThoughts(textOf(message.content));
  const end = calls.length > 0 ? 'tool_use' : 'end_turn';
  return {
    kind: 'answer',
    text,
    ...(calls.length > 0 && { calls, members: membersOf(server, message, text, received) }),
    stopReason: (typeof reason === 'string' && stopReasons.get(reason.toLowerCase())) || end,
    ...tokens,
  };
}

/** Returns the tokens of a completion. If a part is missing, its tokens follow from the total. */
function tokensOf(completion: unknown): { tokens?: { input: number; output: number } } {
  const { prompt_tokens, completion_tokens, total_tokens } = v.parse(Counted, completion).usage ?? {};
  const rest = (part = 0) => Math.max(0, (total_tokens ?? 0) - part);
  const input = prompt_tokens ?? rest(completion_tokens);
  const output = completion_tokens ?? rest(input);
  return { tokens: { input, output } };
}

/** Returns the text of a content: a text, or parts; parts of other kinds have no text. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join('');
  if (typeof content !== 'object' || content === null || !('text' in content)) return '';
  return typeof content.text === 'string' ? content.text : '';
}

/** Thoughts at the start of a text: in tags, or up to the end tag alone in its line if the prompt has opened them. */
const thoughts = /^\s*<(think|thinking|thought|reasoning)>/i;

/** Returns a text without the thoughts at its start, which some servers leave in it. */
function withoutThoughts(text: string): string {
  const opened = thoughts.exec(text);
  if (opened) {
    const endTag = `</${(opened[1] as string).toLowerCase()}>`;
    const end = text.toLowerCase().indexOf(endTag);
    return end < 0 ? '' : withoutThoughts(text.slice(end + endTag.length).trimStart());
  }
  const closed = /^[ \t]*<\/think>[ \t]*$/im.exec(text);
  if (!closed || /<think>/i.test(text.slice(0, closed.index))) return text;
  return text.slice(closed.index + closed[0].length).trimStart();
}

/** The members of a message that requests do not repeat, or have from its text and its calls. */
const ownMembers = new Set(['role', 'content', 'tool_calls', 'function_call', 'refusal', 'annotations', 'audio']);

/**
 * Returns the members of a message that the next request must have again, such as thoughts and signatures of thoughts. The
 * content is one if the text differs from it.
 */
function membersOf(
  { baseUrl }: ChatServer,
  message: Readonly<Record<string, unknown>>,
  text: string,
  calls: readonly FunctionCall[],
): ServerMembers {
  const { content } = message;
  const isChanged = content !== text && typeof content !== 'undefined' && content !== null;
  return {
    server: baseUrl,
    message: {
      ...Object.fromEntries(Object.entries(message).filter(([name]) => !ownMembers.has(name))),
      ...(isChanged && { content }),
    },
    calls: calls.map(({ id, type: _type, function: { name: _name, arguments: _arguments, ...inner }, ...outer }) => ({
      ...outer,
      ...(Object.keys(inner).length > 0 && { function: inner }),
    })),
  };
}

/** Returns the calls of a message. A call whose id is missing, invalid in Bedrock or used twice gets an id of its own. */
function callsOf(received: readonly FunctionCall[], later: readonly LaterMessage[]): RequestedCall[] {
  const used = new Set(
    later.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id }) => id) : [])),
  );
  return received.map(({ id: sent, function: { name, arguments: input } }, at) => {
    const id = typeof sent === 'number' ? String(sent) : sent;
    const isUsable = typeof id === 'string' && /^[\w.:-]{1,64}$/.test(id) && !used.has(id);
    const ownId = isUsable ? id : `call_${later.length}_${at}`;
    used.add(ownId);
    return { id: ownId, name, input };
  });
}

/**
 * Sends a request to the server, and reads the response. Sends a POST if there is a body, otherwise a GET.
 *
 * @throws `ModelServerError` if no response came, or if the server says why it will not answer; `ChatError` for every other
 * failure
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
    if (!response.ok) throw errorOf(baseUrl, response.status, text);
    const received: unknown = JSON.parse(text);
    const status = errorStatusOf(received);
    if (status !== undefined) throw errorOf(baseUrl, status, text);
    const read = v.safeParse(schema, received);
    if (!read.success) throw new ChatError('ModelErrorException');
    return read.output;
  } catch (error) {
    if (error instanceof ChatError || error instanceof ModelServerError) throw error;
    if (signal.aborted) throw new ChatError('ModelTimeoutException');
    if (error instanceof SyntaxError) throw new ChatError('ModelErrorException');
    throw new ModelServerError(`The model server at ${baseUrl} does not answer: ${causeOf(error as Error)}.`);
  }
}

/** Returns the cause of a failed `fetch`. The error of a name with several addresses has a code and no message. */
function causeOf({ cause, message }: Error): string {
  return (cause instanceof Error && cause.message) || codeOf(cause) || message;
}

/** The code with which Groq answers to a call that it could not read. */
const isFailedCall = ({ names }: SentError) => /\btool_use_failed\b/.test(names);

/** What servers answer if the account has no quota or no money left. */
const exhaustedNames =
  /insufficient[_ ](?:quota|balance|credits?|funds)|billing|payment_required|quota_exceeded|credits?_exhausted/i;
const exhausted =
  /insufficient[_ ](?:quota|balance|credits?|funds)|(?:credit|account) balance|(?:out of|no more|not enough|exceeded your) credits?|check your plan and billing|per ?day|(?:daily|monthly|exhausted your).{0,20}(?:quota|limit)/i;

/** Limits that are over soon. Gemini blames the plan for them, too. */
const shortLimit = /rate_limit_exceeded|per ?(?:minute|second)|\b[RT]PM\b/i;

/** Returns whether the account at the server has no quota or no money left, so that waiting does not help. */
function isExhausted(status: number, { text, names }: SentError): boolean {
  if (status === 402 || exhaustedNames.test(names)) return true;
  if (![400, 403, 429].includes(status)) return false;
  return exhausted.test(text) && !shortLimit.test(text);
}

/** What servers answer if a model is not for conversations. */
const withoutChat =
  /(?:not support|cannot|can't|does not|unable to|not (?:a|for)) ?(?:the )?(?:chat|generate|completion)|not a chat model/i;

/** What LM Studio answers, with status 200, if it does not have the path. */
const unknownPath = /unexpected endpoint or method/i;

const ErrorWithStatus = v.object({
  choices: v.optional(v.undefined()),
  error: v.object({ code: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)) }),
});

/**
 * Returns the status of an error that was sent with status 200; `undefined` if the body is no error, or one that does not say
 * its status. OpenRouter sends the status as the code.
 */
function errorStatusOf(body: unknown): number | undefined {
  if (v.is(ErrorWithStatus, body)) return body.error.code;
  return v.is(v.object({ error: v.pipe(v.string(), v.regex(unknownPath)) }), body) ? 404 : undefined;
}

/** What LM Studio answers, with status 400, if a model does not exist or none is loaded, and if its process has ended. */
const withoutModel = /\bno models? loaded\b/i;
const ended = /\bmodel (?:has )?(?:crashed|unloaded)\b/i;

/**
 * Returns the error of a response. The text of the server is not passed on, because it may contain a key.
 *
 * @throws `ModelServerError` if this is the cause: the account is exhausted, the input is too long, the model cannot chat, or
 * the path is wrong
 */
function errorOf(baseUrl: string, status: number, text: string): Error {
  const sent = sentError(text);
  const isRejected = status >= 400 && status < 500;
  const permanent = (message: string) => new ModelServerError(message, { isPermanent: true });
  if (isExhausted(status, sent))
    return permanent(
      `The account at the model server ${baseUrl} has no quota or no credit left; check its plan and billing.`,
    );
  if (isRejected && unknownPath.test(text))
    return permanent(
      `The model server at ${baseUrl} does not have this path; check MODEL_BASE_URL, which usually ends with /v1.`,
    );
  if (status === 400 && (/\bmodel_not_found\b/.test(sent.names) || withoutModel.test(text)))
    return new ChatError('ResourceNotFoundException', undefined, sent);
  if (status === 400 && ended.test(text)) return new ChatError('ModelErrorException', undefined, sent);
  const name = errorsByStatus.get(status) ?? (isRejected ? 'ValidationException' : 'ModelErrorException');
  if (isRejected && isFailedCall(sent)) return new ChatError(name, undefined, sent);
  if (isRejected && withoutTools.test(text)) return new ChatError(name, noToolSupport, sent);
  if (isRejected && withoutChat.test(text))
    return permanent('The model cannot chat; give the agent another model, or set MODEL_NAME.');
  if ((status === 400 || status === 413 || status === 422) && tooLong.test(text))
    return permanent(
      'The input is too long for the model, together with the room for the answer, which MODEL_MAX_TOKENS limits.',
    );
  return new ChatError(name, undefined, sent);
}

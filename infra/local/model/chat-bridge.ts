import * as v from 'valibot';
import { formerStandardModels, thinkingTokensOf } from '../../../lib/contract/models.ts';
import type { BedrockError } from './bedrock-errors.ts';
import type { LocalModel, Reply, Request } from './converse-client.ts';

/** What the bridge leads to. */
export type ChatServer = {
  /** The model of agents that name none. */
  defaultModel: string;
  /** Where the OpenAI chat protocol is spoken, with no slash at the end. */
  baseUrl: string;
  /** Sent as a bearer token, and in no error. */
  apiKey: string | undefined;
  /** What the server calls the default model; the first one that it has if unset. */
  name: string | undefined;
  /** Begins the time that a whole answer may take. */
  startDeadline?: () => AbortSignal;
};

/** Long, for a model on a small machine is slow, and shorter than the five minutes after which `fetch` gives up itself. */
const deadlineMs = 240_000;

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A chat completion (platform.openai.com/docs/api-reference/chat/object), as far as it is read. */
const Completion = v.object({
  choices: v.tupleWithRest(
    [v.object({ message: v.object({ content: v.nullish(v.string(), '') }), finish_reason: v.string() })],
    v.unknown(),
  ),
  usage: v.fallback(v.nullish(v.object({ prompt_tokens: Count, completion_tokens: Count })), undefined),
});

const Models = v.object({ data: v.array(v.object({ id: v.string() })) });

/** What Converse calls the end of an answer. Others are passed on as they are. */
const stopReasons = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['content_filter', 'content_filtered'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
]);

/** What Bedrock would have answered where the server answers with this status. */
const refusals = new Map<number, BedrockError>([
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

/** A call that came to no completion, by the name that Bedrock has for it. */
class Refused extends Error {
  readonly reason: BedrockError;
  constructor(reason: BedrockError) {
    super();
    this.reason = reason;
  }
}

/**
 * A model behind a server of the OpenAI chat protocol, such as Ollama or vLLM. The default model is what the server
 * calls `name`; any other goes by its own name, so that agents can choose among the server's models, and one that it
 * does not have is refused. Nothing that the server says of a fault is passed on.
 */
export function openChatBridge(server: ChatServer): LocalModel {
  // Agents of an earlier version have its default model.
  const isDefault = (model: string) => [server.defaultModel, ...formerStandardModels].includes(model);
  const { name, startDeadline = () => AbortSignal.timeout(deadlineMs) } = server;
  return async (request, signal) => {
    const either = AbortSignal.any([signal, startDeadline()]);
    try {
      const called = isDefault(request.model) ? (name ?? (await firstModel(server, either))) : request.model;
      return replyOf(await call(server, '/chat/completions', Completion, either, questionOf(called, request)));
    } catch (error) {
      return { kind: 'error', name: error instanceof Refused ? error.reason : 'InternalServerException' };
    }
  };
}

/** Asked each time, for the models of a server change, and it may have none yet when the service starts. */
async function firstModel(server: ChatServer, signal: AbortSignal): Promise<string> {
  const { data } = await call(server, '/models', Models, signal);
  if (!data[0]) throw new Refused('ResourceNotFoundException');
  return data[0].id;
}

function questionOf(called: string, { model, system, user, maxTokens }: Request) {
  const messages = [...(system === '' ? [] : [{ role: 'system', content: system }]), { role: 'user', content: user }];
  // OpenAI itself has a newer name for the limit, which servers of its protocol do not all know.
  // The tokens for thinking are for the model that the id names, which is not the one that answers here.
  return { model: called, messages, max_tokens: maxTokens - thinkingTokensOf(model), stream: false };
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
 * Gets a path of the server, or posts to it, and reads the answer.
 *
 * @throws `Refused` for all that comes between
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
    // Not after a redirect: the key is for this server alone.
    const response = await fetch(baseUrl + path, { headers, signal, redirect: 'manual', ...posted });
    const text = await response.text();
    if (!response.ok) throw new Refused(errorOf(response.status));
    const read = v.safeParse(schema, JSON.parse(text));
    if (!read.success) throw new Refused('ModelErrorException');
    return read.output;
  } catch (error) {
    if (error instanceof Refused) throw error;
    if (signal.aborted) throw new Refused('ModelTimeoutException');
    throw new Refused(error instanceof SyntaxError ? 'ModelErrorException' : 'ServiceUnavailableException');
  }
}

const errorOf = (status: number): BedrockError =>
  refusals.get(status) ?? (status >= 400 && status < 500 ? 'ValidationException' : 'ModelErrorException');

// Types of `everyItem`, for projects whose target is older.
/// <reference lib="es2018.asyncgenerator" preserve="true" />
import { type ErrorCode, type ErrorDetail, type Execution, type Operations, operations } from './operations.ts';

/** An operation id of the OpenAPI document. */
export type Operation = keyof Operations;

/** The request of an operation: path parameters, query, body and headers, and a signal that aborts it. */
export type RequestTo<Name extends Operation> = Operations[Name]['request'] & { signal?: AbortSignal | undefined };

/** The `pagination` of a list: with an exact total, or with the position of the next page. */
type PaginationOf<Paged> = Paged extends true
  ? { limit: number; offset: number; total: number }
  : Paged extends 'cursor'
    ? { limit: number; next: string | null }
    : undefined;

/** A successful response. Paged lists have `pagination`, versioned resources an `etag`. */
export type Answer<Name extends Operation> = {
  data: Operations[Name]['data'];
  pagination: PaginationOf<Operations[Name]['paged']>;
  /** Names the version of a task, an agent or a webhook. Send it as `ifMatch` with a change. */
  etag: string | undefined;
  /** Whether this is the response of an earlier request with the same `idempotencyKey`. */
  replayed: boolean;
  requestId: string | undefined;
};

type Call<Name extends Operation> =
  object extends RequestTo<Name>
    ? (request?: RequestTo<Name>) => Promise<Answer<Name>>
    : (request: RequestTo<Name>) => Promise<Answer<Name>>;

/** A client: a function for each operation. */
export type Client = { readonly [Name in keyof Operations]: Call<Name> };

/** The options of a client. */
export type ClientOptions = {
  /** The URL of the service, such as `http://127.0.0.1:3000`. */
  url: string;
  /** An access token. Operators create one with `npm run crewboard -- token create`. */
  token: string;
  /** The maximum number of attempts for a request, the first included; 4 if unset. */
  tries?: number | undefined;
  /** The maximum time of an attempt, in milliseconds; 60 seconds if unset. The service responds within 30 seconds. */
  timeoutMs?: number | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  /** Waits between two attempts. */
  wait?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
};

/** An error response, or another reason why a call has no result. Programs evaluate `code`. */
export class CrewboardError extends Error {
  override name = 'CrewboardError';
  /** The HTTP status of the error response; 0 if there is none. */
  readonly status: number;
  /**
   * The error code of the response, or one of the client:
   *
   * - `no_response`: the URL could not be reached or did not respond in time; `cause` says why. The service may have
   *   carried out the request.
   * - `not_an_answer`: the response does not have the format of this API, for example because a proxy sent it.
   * - `still_running`: the timeout of `waitForExecution` has passed.
   */
  readonly code: ErrorCode | 'no_response' | 'not_an_answer' | 'still_running';
  readonly details: readonly ErrorDetail[];
  /** The time in `Retry-After`, in seconds; absent if the response has none. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  /** The method and the URL of the request; absent if the error does not belong to a single request. */
  readonly method: string | undefined;
  readonly url: string | undefined;

  constructor(status: number, { code, message, details = [], retryAfter, requestId, method, url, cause }: ErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
    this.method = method;
    this.url = url;
  }
}

type ErrorFields = {
  code: CrewboardError['code'];
  message: string;
  details?: readonly ErrorDetail[];
  retryAfter?: number | undefined;
  requestId?: string | undefined;
  method?: string;
  url?: string;
  cause?: unknown;
};

type Envelope = { success?: unknown; data?: unknown; pagination?: unknown; error?: ErrorFields };

/** A request with all parts that any operation can have. */
type AnyRequest = {
  params?: Record<string, string>;
  query?: Record<string, string | number | readonly string[] | undefined>;
  body?: unknown;
  ifMatch?: string;
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
};

/**
 * Creates a client. It retries GET and POST requests if there is no response, after 503, and after 409 for a request in
 * progress. It sends each POST with an Idempotency-Key, and generates one if the caller gives none. It retries PATCH
 * and DELETE requests only after 429, which means that nothing was changed.
 *
 * A call throws `CrewboardError`, or the reason of its `signal` if that aborts.
 *
 * @example
 * const crewboard = createClient({ url: 'http://127.0.0.1:3000', token });
 * const { data } = await crewboard.createTask({ body: { title: 'Draw the landing page' } });
 *
 * @throws TypeError if the URL or the token cannot be right
 */
export function createClient(options: ClientOptions): Client {
  checkOptions(options);
  const calls = (Object.keys(operations) as Operation[]).map((name) => [
    name,
    (request: AnyRequest = {}) => call(options, name, request),
  ]);
  return Object.fromEntries(calls) as Client;
}

/** @deprecated The old name of `createClient`; 0.3.0 removes it. */
export function openClient(options: ClientOptions): Client {
  return createClient(options);
}

/** The options of `waitForExecution`. */
export type ExecutionWait = {
  /** Name of the agent. */
  name: string;
  /** Id of the execution, which `executeAgent` returns. */
  id: string;
  /** Ends the wait. The execution continues. */
  signal?: AbortSignal | undefined;
  /** The maximum time to wait; 15 minutes if unset. */
  timeoutMs?: number | undefined;
  /** Called with the execution when it is first read, and after each change. */
  onChange?: ((execution: Execution) => void) | undefined;
  /** Waits between two reads. */
  wait?: ClientOptions['wait'];
};

/** The default of `timeoutMs`. An execution runs for at most ten minutes, but a worker can start it later. */
const executionTimeoutMs = 15 * 60_000;

/** The first and the longest interval between two reads of an execution, and the growth of the intervals. */
const firstIntervalMs = 500;
const longestIntervalMs = 10_000;
const intervalGrowth = 1.5;

/**
 * Reads an execution until it has ended, and returns it. Its `status` is then `completed` or `failed`. To be notified
 * instead, register a webhook for `agent.completed` and `agent.failed`.
 *
 * @example
 * const { data: started } = await crewboard.executeAgent({ params: { name }, body: { input } });
 * const { status, output, error } = await waitForExecution(crewboard, { name, id: started.executionId });
 *
 * @throws `CrewboardError` with the code `still_running` at the timeout, or with the error of a read
 * @throws the reason of `signal` when it aborts
 */
export async function waitForExecution(
  client: Pick<Client, 'getExecution'>,
  { name, id, signal, timeoutMs = executionTimeoutMs, onChange, wait = pause }: ExecutionWait,
): Promise<Execution> {
  const late = () =>
    new CrewboardError(0, {
      code: 'still_running',
      message: `The execution ${id} has not ended within ${timeoutMs / 1000} seconds. It continues; wait again or raise timeoutMs.`,
    });
  return withTimeout(timeoutMs, late, signal, async (signal) => {
    let last = '';
    for (let intervalMs = firstIntervalMs; ; intervalMs = Math.min(intervalMs * intervalGrowth, longestIntervalMs)) {
      const { data } = await client.getExecution({ params: { name, id }, signal });
      const state = JSON.stringify(data);
      if (state !== last) onChange?.(data);
      last = state;
      if (data.status !== 'running') return data;
      await wait(intervalMs, signal);
      signal.throwIfAborted();
    }
  });
}

/** The number of items in a page of `everyItem`: the maximum of the API. */
const pageSize = 100;

/** The operations that return pages. */
type Paged = { [Name in Operation]: Operations[Name]['paged'] extends true ? Name : never }[Operation];

/**
 * Yields all items of a list, page by page. If the list grows in the meantime, an item can occur twice; if it shrinks,
 * an item can be missing. `limit` in the query sets the size of a page (100 if unset), and `offset` the first item. Each
 * list function returns a single page.
 *
 * @example
 * for await (const task of everyItem(crewboard.listTasks, { query: { status: 'done' } })) console.log(task.title);
 */
export async function* everyItem<Name extends Paged>(
  list: (request: RequestTo<Name>) => Promise<Answer<Name>>,
  ...[request]: object extends RequestTo<Name> ? [request?: RequestTo<Name>] : [request: RequestTo<Name>]
): AsyncGenerator<Operations[Name]['data'][number]> {
  for (let offset = request?.query?.offset ?? 0, total = offset + 1; offset < total; ) {
    const query = { ...request?.query, limit: request?.query?.limit ?? pageSize, offset };
    const { data, pagination } = await list({ ...request, query } as RequestTo<Name>);
    yield* data;
    if (data.length === 0) return;
    offset += data.length;
    total = (pagination as { total: number }).total;
  }
}

/** The default of `timeoutMs` of a client. */
const requestTimeoutMs = 60_000;

/** Checks the URL and the token. The messages do not repeat them: a token may be in the wrong place. */
function checkOptions({ url, token }: ClientOptions): void {
  if (!isServiceUrl(url))
    throw new TypeError('url is not an HTTP URL of the service; write it like http://127.0.0.1:3000.');
  // The headers of fetch reject such a token with a message that repeats it.
  if (!/^[\x21-\x7e]*$/.test(token))
    throw new TypeError('token contains a character that no access token has, such as a space; copy it again.');
}

function isServiceUrl(url: string): boolean {
  try {
    const { protocol, username, password, search, hash } = new URL(url);
    return /^https?:$/.test(protocol) && username + password + search + hash === '';
  } catch {
    return false;
  }
}

async function call(options: ClientOptions, name: Operation, request: AnyRequest): Promise<Answer<Operation>> {
  const { tries = 4, wait = pause } = options;
  const prepared = prepare(options, name, request);
  const repeatable = prepared.method === 'GET' || prepared.method === 'POST';
  for (let left = Math.max(tries, 1) - 1; ; left--) {
    const received = await send(options, prepared, request.signal).catch((error: CrewboardError) => {
      if (left === 0 || !repeatable || request.signal?.aborted) throw error;
      return undefined;
    });
    if (received && (left === 0 || !isRetryable(received, repeatable))) return read(prepared, received);
    // 1, 2, then 4 seconds with jitter, unless the service says how long to wait.
    const backoff = 1000 * 2 ** (tries - 1 - left) * (0.75 + Math.random() / 2);
    await wait(Number(received?.headers.get('Retry-After')) * 1000 || backoff, request.signal);
  }
}

/** A request as it is sent. */
type Prepared = { method: string; url: string; headers: Headers; body?: string };

/** A complete response. */
type Received = { status: number; headers: Headers; text: string };

/**
 * Sends a request once.
 *
 * @throws `CrewboardError` with the code `no_response`
 * @throws the reason of `signal` when it aborts
 */
async function send(
  { fetch = globalThis.fetch, timeoutMs = requestTimeoutMs }: ClientOptions,
  { url, ...request }: Prepared,
  signal: AbortSignal | undefined,
): Promise<Received> {
  const late = () => new DOMException(`the timeout of ${timeoutMs / 1000} seconds has passed`, 'TimeoutError');
  try {
    return await withTimeout(timeoutMs, late, signal, async (signal) => {
      const response = await fetch(url, { ...request, signal });
      // Reads every body: an unread one would keep the connection from the next attempt.
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    const { method } = request;
    const message = `${method} ${url} got no response: ${reasonOf(cause)}. Check the URL and whether the service runs.`;
    throw new CrewboardError(0, { code: 'no_response', message, method, url, cause });
  }
}

/** Returns the reason of a network error. Node has it in the cause, and a cause for each address of a host name. */
function reasonOf(error: unknown): string {
  const { message, cause, errors } = error as { message?: string; cause?: unknown; errors?: unknown[] };
  const deeper = cause ?? errors?.[0];
  return deeper ? reasonOf(deeper) : message || String(error);
}

/** The longest time in Retry-After that the client waits, in seconds. A used daily budget of tokens takes up to a day. */
const longestRetryAfter = 120;

/**
 * Returns whether to retry: the limit of requests is reached, the service is busy, or the request itself is in progress. Other
 * conflicts have a Retry-After too, but after that time the caller may not want the request any more.
 */
function isRetryable({ status, headers, text }: Received, repeatable: boolean): boolean {
  if (Number(headers.get('Retry-After')) > longestRetryAfter) return false;
  if (status === 409 && !text.includes('"request_in_progress"')) return false;
  return status === 429 || (repeatable && (status === 503 || headers.has('Retry-After')));
}

function prepare({ url, token }: ClientOptions, name: Operation, request: AnyRequest): Prepared {
  const { method, path } = operations[name];
  const { params = {}, query = {}, body, ifMatch, idempotencyKey } = request;
  const target = new URL(
    url.replace(/\/$/, '') + path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? '')),
  );
  // As a text, a list has commas between its values, as the API reads them.
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) target.searchParams.set(name, String(value));
  const headers = new Headers({ Authorization: `Bearer ${token}` });
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (ifMatch !== undefined) headers.set('If-Match', ifMatch);
  if (method === 'POST') headers.set('Idempotency-Key', idempotencyKey ?? newKey());
  return { method, url: target.href, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
}

/** Returns a random key. `crypto.randomUUID` does not exist on web pages without TLS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function read({ method, url }: Prepared, { status, headers, text }: Received): Answer<Operation> {
  const requestId = headers.get('X-Request-Id') ?? undefined;
  const retryAfter = Number(headers.get('Retry-After')) || undefined;
  const envelope = parsed(text);
  if (envelope?.success === false && envelope.error)
    throw new CrewboardError(status, { ...envelope.error, retryAfter, method, url });
  if (status < 200 || status > 299 || envelope?.success !== true)
    throw new CrewboardError(status, {
      code: 'not_an_answer',
      message: `${method} ${url} got a response with status ${status} that is not from Crewboard; check the URL and proxies. It begins: ${text.slice(0, 200)}`,
      retryAfter,
      requestId,
      method,
      url,
    });
  return {
    data: envelope.data,
    pagination: envelope.pagination,
    etag: headers.get('ETag') ?? undefined,
    replayed: headers.has('Idempotency-Replayed'),
    requestId,
  } as Answer<Operation>;
}

function parsed(text: string): Envelope | undefined {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return undefined;
  }
}

/** The longest time of a timer. A longer one would end at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Runs an action with a signal. It aborts with the reason of the caller's signal, or with `late()` after the time.
 *
 * @throws the reason of the caller's signal if it has aborted before
 */
async function withTimeout<Result>(
  milliseconds: number,
  late: () => Error,
  signal: AbortSignal | undefined,
  action: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(late()), Math.min(milliseconds, longestTimerMs));
  const stop = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', stop);
  try {
    return await action(ending.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}

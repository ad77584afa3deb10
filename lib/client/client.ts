import { type ErrorCode, type ErrorDetail, type Operations, operations } from './operations.ts';

/** An operation id of the OpenAPI document. */
export type Operation = keyof Operations;

/** The request of an operation: path parameters, query, body and headers, and a signal that aborts it. */
export type RequestTo<Name extends Operation> = Operations[Name]['request'] & { signal?: AbortSignal };

/** A successful response. Paged lists have `pagination`, versioned resources an `etag`. */
export type Answer<Name extends Operation> = {
  data: Operations[Name]['data'];
  pagination: Operations[Name]['paged'] extends true ? { limit: number; offset: number; total: number } : undefined;
  /** The version of a task or an agent. Send it as `ifMatch` with a change. */
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
  /** An access token. Operators create one with `npm run token -- create`. */
  token: string;
  /** The maximum number of attempts for a request, the first included; 4 if unset. */
  tries?: number;
  fetch?: typeof globalThis.fetch;
  /** Waits between two attempts. */
  wait?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
};

/** An error response, or a response that is not from Crewboard. Programs evaluate `code`. */
export class CrewboardError extends Error {
  override name = 'CrewboardError';
  readonly status: number;
  /** `not_an_answer`: the response does not have the format of this API, for example because a proxy sent it. */
  readonly code: ErrorCode | 'not_an_answer';
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;

  constructor(status: number, { code, message, details = [], requestId }: ErrorBody) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }
}

type ErrorBody = {
  code: CrewboardError['code'];
  message: string;
  details?: readonly ErrorDetail[];
  requestId?: string | undefined;
};

type Envelope = { success?: unknown; data?: unknown; pagination?: unknown; error?: ErrorBody };

/** A request with all parts that any operation can have. */
type AnyRequest = {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  ifMatch?: string;
  idempotencyKey?: string;
  signal?: AbortSignal;
};

/**
 * Creates a client. It retries GET and POST requests if there is no response, after 503, and after 409 for a request in
 * progress. It sends each POST with an Idempotency-Key, and generates one if the caller gives none. It retries PATCH
 * and DELETE requests only after 429, which means that nothing was changed.
 *
 * @example const crewboard = createClient({ url: 'http://127.0.0.1:3000', token }); const { data } = await
 *   crewboard.createTask({ body: { title: 'Draw the landing page' } });
 *
 * A call throws `CrewboardError` for an error response, and the error of `fetch` if there is no response.
 */
export function createClient(options: ClientOptions): Client {
  const calls = (Object.keys(operations) as Operation[]).map((name) => [
    name,
    (request: AnyRequest = {}) => call(options, name, request),
  ]);
  return Object.fromEntries(calls) as Client;
}

/** @deprecated The old name of `createClient`; the next release removes it. */
export function openClient(options: ClientOptions): Client {
  return createClient(options);
}

/** The operations that return pages. */
type Paged = { [Name in Operation]: Operations[Name]['paged'] extends true ? Name : never }[Operation];

/**
 * Yields all items of a list, page by page. If the list grows in the meantime, an item can occur twice; if it shrinks,
 * an item can be missing.
 *
 * @example for await (const task of everyItem(crewboard.listTasks, { query: { status: 'done' } }))
 *   console.log(task.title);
 */
export async function* everyItem<Name extends Paged>(
  list: (request: RequestTo<Name>) => Promise<Answer<Name>>,
  request: RequestTo<Name>,
): AsyncGenerator<Operations[Name]['data'][number]> {
  for (let offset = 0, total = 1; offset < total; ) {
    const query = { ...request.query, limit: 100, offset };
    const { data, pagination } = await list({ ...request, query } as RequestTo<Name>);
    yield* data;
    if (data.length === 0) return;
    offset += data.length;
    total = (pagination as { total: number }).total;
  }
}

async function call(options: ClientOptions, name: Operation, request: AnyRequest): Promise<Answer<Operation>> {
  const { tries = 4, fetch = globalThis.fetch, wait = pause } = options;
  const { method } = operations[name];
  const repeatable = method === 'GET' || method === 'POST';
  const [target, init] = prepare(options, name, request);
  for (let left = Math.max(tries, 1) - 1; ; left--) {
    const response = await fetch(target, init).catch((error: unknown) => {
      if (left === 0 || !repeatable || request.signal?.aborted) throw error;
      return undefined;
    });
    if (response && (left === 0 || !isRetryable(response, repeatable))) return read(response);
    // An unread body would keep the connection from the next attempt.
    await response?.body?.cancel();
    // 1, 2, then 4 seconds with jitter, unless the service says how long to wait.
    const backoff = 1000 * 2 ** (tries - 1 - left) * (0.75 + Math.random() / 2);
    await wait(Number(response?.headers.get('Retry-After')) * 1000 || backoff, request.signal);
  }
}

/** Returns whether to retry: the limit of requests is reached, the service is busy, or the request is in progress. */
function isRetryable({ status, headers }: Response, repeatable: boolean): boolean {
  return status === 429 || (repeatable && (status === 503 || headers.has('Retry-After')));
}

function prepare({ url, token }: ClientOptions, name: Operation, request: AnyRequest): [URL, RequestInit] {
  const { method, path } = operations[name];
  const { params = {}, query = {}, body, ifMatch, idempotencyKey, signal } = request;
  const target = new URL(
    url.replace(/\/$/, '') + path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? '')),
  );
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) target.searchParams.set(name, String(value));
  const headers = new Headers({ Authorization: `Bearer ${token}` });
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (ifMatch !== undefined) headers.set('If-Match', ifMatch);
  if (method === 'POST') headers.set('Idempotency-Key', idempotencyKey ?? crypto.randomUUID());
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return [target, { method, headers, ...sent, ...(signal && { signal }) }];
}

async function read(response: Response): Promise<Answer<Operation>> {
  const { status, headers } = response;
  const requestId = headers.get('X-Request-Id') ?? undefined;
  const text = await response.text();
  const envelope = parsed(text);
  if (envelope?.success === false && envelope.error) throw new CrewboardError(status, envelope.error);
  if (!response.ok || envelope?.success !== true)
    throw new CrewboardError(status, {
      code: 'not_an_answer',
      message: `The response with status ${status} is not from Crewboard; check the URL and proxies. It begins: ${text.slice(0, 200)}`,
      requestId,
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

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

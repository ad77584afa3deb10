import { type ErrorCode, type ErrorDetail, type Operations, operations } from './operations.ts';

/** An operation id, as the OpenAPI document has it. */
export type Operation = keyof Operations;

/** What a request can name: path parameters, query and body, as its operation has them, and a signal that ends it. */
export type RequestTo<Name extends Operation> = Operations[Name]['request'] & { signal?: AbortSignal };

/** A success. Lists that are paged say where the page stands, versioned resources their version. */
export type Answer<Name extends Operation> = {
  data: Operations[Name]['data'];
  pagination: Operations[Name]['paged'] extends true ? { limit: number; offset: number; total: number } : undefined;
  /** Of a task or an agent that is read or changed: send it back as `ifMatch`. */
  etag: string | undefined;
  /** Whether it is the answer to an earlier request with the same `idempotencyKey`. */
  replayed: boolean;
  requestId: string | undefined;
};

type Call<Name extends Operation> =
  object extends RequestTo<Name>
    ? (request?: RequestTo<Name>) => Promise<Answer<Name>>
    : (request: RequestTo<Name>) => Promise<Answer<Name>>;

/** A function for each operation. */
export type Client = { readonly [Name in keyof Operations]: Call<Name> };

/** What a client is opened with. */
export type ClientOptions = {
  /** Where the service answers, such as `http://127.0.0.1:3000`. */
  url: string;
  /** A token of `npm run token -- create`. */
  token: string;
  /** How often a request is made in all before it is given up; 4 if unset. */
  tries?: number;
  fetch?: typeof globalThis.fetch;
  /** Waits between two tries, milliseconds. */
  wait?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
};

/** A request that was refused, or answered by something that is not Crewboard. Programs go by `code`. */
export class CrewboardError extends Error {
  override name = 'CrewboardError';
  readonly status: number;
  /** `not_an_answer`: what came is not of this interface, as a proxy or a gateway answers by itself. */
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

/** Every part that some request can have. */
type AnyRequest = {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  ifMatch?: string;
  idempotencyKey?: string;
  signal?: AbortSignal;
};

/**
 * Opens a client. Reads, and POSTs under their Idempotency-Key (which it makes where the caller gives none), are tried
 * again when no answer comes, and after a while where the service asks for that (503, and 409 for what is still under
 * way). Any request is made again after 429, for which nothing was changed; else a PATCH or a DELETE is made once.
 *
 * @example
 * const crewboard = openClient({ url: 'http://127.0.0.1:3000', token });
 * const { data } = await crewboard.createTask({ body: { title: 'Draw the landing page' } });
 *
 * A call throws `CrewboardError` for what is refused, and what `fetch` throws where no answer came.
 */
export function openClient(options: ClientOptions): Client {
  const calls = (Object.keys(operations) as Operation[]).map((name) => [
    name,
    (request: AnyRequest = {}) => call(options, name, request),
  ]);
  return Object.fromEntries(calls) as Client;
}

/** The operations that answer in pages. */
type Paged = { [Name in Operation]: Operations[Name]['paged'] extends true ? Name : never }[Operation];

/**
 * Every item of a list, page by page, as the pages stand when they are asked for: of a list that grows meanwhile an
 * item may come twice, of one that shrinks an item may be passed over.
 *
 * @example
 * for await (const task of everyItem(crewboard.listTasks, { query: { status: 'done' } })) console.log(task.title);
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
    const answer = await fetch(target, init).catch((error: unknown) => {
      if (left === 0 || !repeatable || request.signal?.aborted) throw error;
      return undefined;
    });
    if (answer && (left === 0 || !asksToWait(answer, repeatable))) return read(answer);
    // What is not read to its end keeps its connection from the next try.
    await answer?.body?.cancel();
    // A second, then two, then four, each a little longer or shorter; or what the service says.
    const backoff = 1000 * 2 ** (tries - 1 - left) * (0.75 + Math.random() / 2);
    await wait(Number(answer?.headers.get('Retry-After')) * 1000 || backoff, request.signal);
  }
}

/** The service has taken too many requests, is busy, or is carrying out this very request for a try before. */
function asksToWait({ status, headers }: Response, repeatable: boolean): boolean {
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

async function read(answer: Response): Promise<Answer<Operation>> {
  const { status, headers } = answer;
  const requestId = headers.get('X-Request-Id') ?? undefined;
  const text = await answer.text();
  const envelope = parsed(text);
  if (envelope?.success === false && envelope.error) throw new CrewboardError(status, envelope.error);
  if (!answer.ok || envelope?.success !== true)
    throw new CrewboardError(status, {
      code: 'not_an_answer',
      message: `${status} without an answer of Crewboard: ${text.slice(0, 200)}`,
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

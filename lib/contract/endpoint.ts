import type * as v from 'valibot';
import type { ErrorCode } from './errors.ts';
import type { ObjectSchema, Schema } from './shapes.ts';

/** The scopes that an access token can have. No scope implies another. */
export const scopes = [
  'tasks:read',
  'tasks:write',
  'agents:read',
  'agents:write',
  'agents:execute',
  'webhooks:read',
  'webhooks:write',
] as const;

/** A scope of an access token. */
export type Scope = (typeof scopes)[number];

/** How a function uses the secrets of webhooks; its role gets only this right to their KMS key. */
export type SecretsUse = 'encrypts' | 'decrypts';

/**
 * The definition of an endpoint: a row of the contract. The routes of API Gateway, the local gateway, the OpenAPI
 * document and the types of the handlers are all derived from it; no other code spells a method or a path.
 */
export type Endpoint = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path, with `:name` for a parameter. */
  path: `/${string}`;
  summary: string;
  /**
   * The scope that the caller's access token needs, or all scopes that it needs; `any` accepts every valid token, also one
   * without scopes. Open endpoints have none and need no token. `requiredScopes` returns them as a list.
   */
  scope?: Scope | readonly Scope[] | 'any';
  /** The endpoint is a way for people: models get no tool for it. */
  forPeople?: true;
  /** The endpoint calls other endpoints for a model. They check their own scopes. */
  offersTools?: true;
  /**
   * The paths with a fixed text in place of the last parameter, by this text, and the method that they have. Any other method gets
   * 405 there, not the 404 of an id.
   */
  fixedBeside?: Readonly<Record<string, Endpoint['method']>>;
  /** The schema of each path parameter. A value that does not match leads to 404. */
  params?: Readonly<Record<string, Schema>>;
  query?: ObjectSchema;
  body?: ObjectSchema;
  /** The members of the body that have any JSON. A number that JSON cannot keep is an error there. */
  freeForm?: readonly string[];
  status: 200 | 201;
  /**
   * The created resource, if the response contains only some of its fields. A request that sets one of the other fields
   * gets the error `read_only`, not `unknown_field`.
   */
  resource?: ObjectSchema;
  /** Fields of the resource that another endpoint sets: by their names, how. The error `read_only` says so. */
  setElsewhere?: Readonly<Record<string, string>>;
  /** The schema of `data`; of one item of `data` if the row is `paged`. */
  data?: Schema;
  /** The response is a list: with `limit`, `offset` and an exact `total`, or, by `cursor`, with `limit` and `next`. */
  paged?: true | 'cursor';
  /** The resource has a version: responses have an `ETag`, and changes accept `If-Match`. */
  versioned?: true;
  /**
   * The endpoint calls an external system (a model or a receiver) before it writes its result. A request with an
   * Idempotency-Key therefore takes a lease first, so that a duplicate request does not call out too.
   */
  callsOut?: true;
  /** The endpoint starts an execution. The number of starts per minute is limited for each organization. */
  startsExecution?: true;
  /** The endpoint reads the item of the table that is always absent, and no other. */
  checksTable?: true;
  /** How the endpoint uses the secrets of webhooks. */
  secrets?: SecretsUse;
  /** The endpoint calls models; its role gets the right to. */
  asksModels?: true;
  /** The media type of a response without the envelope. */
  media?: string;
  /** Callers can cache the response and revalidate it by its `ETag`, which leads to 304 if it has not changed. */
  cacheable?: true;
  /** The operation id of the endpoint whose function serves this one too. Without it, the endpoint has its own. */
  servedBy?: string;
  /** The endpoint is not in the OpenAPI document: it belongs to the documentation page, or has a protocol of its own. */
  undocumented?: true;
  /** Error codes of the endpoint's own rules. `impliedErrors` adds the codes that follow from the other properties. */
  errors?: readonly ErrorCode[];
};

/**
 * Defines an endpoint. The name of the exported constant is the operation id. It names the function file and construct, unless
 * another endpoint's function serves this one.
 */
export function endpoint<const Row extends Endpoint>(row: Row): Row {
  return row;
}

/** The read-only type of an example value. */
export type Example<T> = T extends object ? { readonly [Key in keyof T]: Example<T[Key]> } : T;

/**
 * The API reference of an endpoint in the OpenAPI document: a description in Markdown, examples of path parameters, an
 * example of the body and an example of the data. The function `getTaskReference` returns the reference of `getTask`. It is a
 * function so that bundlers can remove it from code that does not call it.
 *
 * The first example works on a new organization (`lib/contract/examples.ts` has the rules). Further examples of the body,
 * by their titles, can name other resources.
 */
export type ApiReference<Row extends Endpoint> = { description: string } & (Row['params'] extends object
  ? { params?: { readonly [Name in keyof Row['params']]?: string } }
  : object) &
  (Row['body'] extends Schema
    ? {
        body: Example<v.InferInput<Row['body']>>;
        furtherBodies?: Readonly<Record<string, Example<v.InferInput<Row['body']>>>>;
      }
    : object) &
  (Row['data'] extends Schema
    ? {
        data: Example<Row['paged'] extends true | 'cursor' ? v.InferOutput<Row['data']>[] : v.InferOutput<Row['data']>>;
      }
    : object);

type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;
type Outputs<S> = S extends Readonly<Record<string, Schema>> ? { [Key in keyof S]: v.InferOutput<S[Key]> } : object;

/** The parsed parts of a request that the handler of an endpoint gets. */
export type RequestOf<Row extends Endpoint> = {
  params: Outputs<Row['params']>;
  query: Output<Row['query']>;
  body: Output<Row['body']>;
};

/** A page of a list; `total` is the exact number of items that match the filters. */
export type Page<Item> = { items: Item[]; total: number };

/** A page of a list without a total: its items, and where the next page begins; `null` at the end. */
export type CursorPage<Item> = { items: Item[]; next: string | null };

/** A resource with its version. The `ETag` follows from its id and its version. */
export type Versioned<Data> = { data: Data; version: number };

/**
 * Checks the `If-Match` header of a request against the version of a resource.
 *
 * @throws `ApiError` `precondition_failed` if the version does not match
 */
export type Precondition = (resource: { id: string; version: number }) => void;

/**
 * The content of a response without the envelope, with its own headers. A string is sent as it is; bytes are a gzipped
 * file. The headers of a `cacheable` endpoint include an `ETag`.
 */
export type Content = { body: string | Uint8Array; headers: Readonly<Record<string, string>> };

/** The result of the handler of an endpoint: `data`, a page if the row is `paged`, with its version if `versioned`. */
export type ResultOf<Row extends Endpoint> = Row['data'] extends Schema
  ? Row['paged'] extends true
    ? Page<v.InferOutput<Row['data']>>
    : Row['paged'] extends 'cursor'
      ? CursorPage<v.InferOutput<Row['data']>>
      : Row['versioned'] extends true
        ? Versioned<v.InferOutput<Row['data']>>
        : v.InferOutput<Row['data']>
  : Row['media'] extends string
    ? string | Content
    : unknown;

/** Returns the names of the parameters of a path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
}

/** Returns the methods of the path of an endpoint for which the endpoint answers: open ones also answer `HEAD`. */
export function methodsOf({ method, scope }: Endpoint): (Endpoint['method'] | 'HEAD')[] {
  return method === 'GET' && scope === undefined ? ['GET', 'HEAD'] : [method];
}

/** Returns a path in the notation of OpenAPI and API Gateway: `/api/agents/{name}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/**
 * Returns the error codes that follow from the row's properties, in the order of checks
 * (docs/architecture.md#order-of-checks).
 */
export function impliedErrors(row: Endpoint): ErrorCode[] {
  const implied: ErrorCode[] = [];
  if (row.scope) implied.push('unauthorized');
  if (row.scope && row.scope !== 'any') implied.push('insufficient_scope');
  if (row.scope) implied.push('rate_limited', 'payload_too_large');
  if (row.body) implied.push('unsupported_media_type', 'invalid_json');
  if (row.params) implied.push('not_found');
  implied.push('validation_failed');
  if (row.method === 'POST') implied.push('idempotency_key_reused');
  if (row.callsOut) implied.push('request_in_progress');
  if (row.versioned && row.method !== 'GET') implied.push('precondition_failed');
  return [...implied, 'internal_error', 'unavailable'];
}

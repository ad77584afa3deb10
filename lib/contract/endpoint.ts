import type * as v from 'valibot';
import type { ErrorCode } from './errors.ts';
import type { ObjectSchema, Schema } from './shapes.ts';

/** What a token may be allowed to do. No scope implies another. */
export const scopes = [
  'tasks:read',
  'tasks:write',
  'agents:read',
  'agents:write',
  'agents:execute',
  'webhooks:read',
  'webhooks:write',
] as const;

/** A scope of the closed list. */
export type Scope = (typeof scopes)[number];

/** What a function does with the secrets of webhooks, which nothing else can read. */
export type SecretsUse = 'seals' | 'opens';

/**
 * One endpoint. API Gateway's routes, the local gateway, the OpenAPI document and the types of the handlers are all
 * derived from it; nothing else spells a method or a path.
 */
export type Endpoint = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With `:name` for a parameter. */
  path: `/${string}`;
  summary: string;
  /** The scope that a caller's token needs; open paths have none and ask for no token. */
  scope?: Scope;
  /** What each path parameter can be; anything else is answered like something absent. */
  params?: Readonly<Record<string, Schema>>;
  query?: ObjectSchema;
  body?: ObjectSchema;
  status: 200 | 201;
  /** What a create makes, where its answer shows only a part: no field of it is unknown, though most cannot be set. */
  resource?: ObjectSchema;
  /** The shape of `data`; of one entry of it where the row is `paged`. */
  data?: Schema;
  /** A list with `limit`, `offset` and an exact total. */
  paged?: true;
  /** The resource has a version: `ETag` on what is read or changed, `If-Match` on what changes it. */
  versioned?: true;
  /** It calls out to others before it has anything to keep, so it first notes that it is under way. */
  callsOut?: true;
  /** It starts an execution; the number that an organization may start in a minute is limited. */
  startsExecution?: true;
  /** What it does with the secrets of webhooks: it alone is given that right to their key. */
  secrets?: SecretsUse;
  /** It asks models, and is given the right to. */
  asksModels?: true;
  /** An answer of this media type, without the envelope. */
  media?: string;
  /** It is the same for as long as its `ETag` is, so that who has it already is answered 304. */
  kept?: true;
  /** Refusals that this row's own rules can lead to; those that its shape implies are derived (`impliedErrors`). */
  errors?: readonly ErrorCode[];
};

/** Declares a row. Its name is the name it is exported under: operation id, function file and construct follow it. */
export function endpoint<const Row extends Endpoint>(row: Row): Row {
  return row;
}

/** A value of an example, which nothing changes. */
export type Example<T> = T extends object ? { readonly [Key in keyof T]: Example<T[Key]> } : T;

/**
 * The words and examples of a row in the OpenAPI document: what a caller has to know beside the summary, in Markdown,
 * an example of the body and one of the data. The row `getTask` has them in the function `getTaskReference`: a bundler
 * leaves a function out where nothing calls it.
 */
export type ApiReference<Row extends Endpoint> = { description: string } & (Row['body'] extends Schema
  ? { body: Example<v.InferInput<Row['body']>> }
  : object) &
  (Row['data'] extends Schema
    ? { data: Example<Row['paged'] extends true ? v.InferOutput<Row['data']>[] : v.InferOutput<Row['data']>> }
    : object);

type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;
type Outputs<S> = S extends Readonly<Record<string, Schema>> ? { [Key in keyof S]: v.InferOutput<S[Key]> } : object;

/** What a handler of the row is given of the request, parsed. */
export type RequestOf<Row extends Endpoint> = {
  params: Outputs<Row['params']>;
  query: Output<Row['query']>;
  body: Output<Row['body']>;
};

/** A page of a list, with the exact number of all that the filters match. */
export type Page<Item> = { items: Item[]; total: number };

/** A resource and the version that its `ETag` names. */
export type Versioned<Data> = { data: Data; version: number };

/** Checks an `If-Match` against a version, and throws the refusal if it differs; see `lib/http/preconditions.ts`. */
export type Precondition = (version: number) => void;

/**
 * What is answered without the envelope, and headers of its own: a text, or a file in UTF-8 that is kept gzipped. With an
 * `ETag` among the headers, as a row that is `kept` has, who has it already is answered 304.
 */
export type Content = { body: string | Uint8Array; headers: Readonly<Record<string, string>> };

/** What a handler of the row answers: the row's `data`, as a page or with its version where the row says so. */
export type ResultOf<Row extends Endpoint> = Row['data'] extends Schema
  ? Row['paged'] extends true
    ? Page<v.InferOutput<Row['data']>>
    : Row['versioned'] extends true
      ? Versioned<v.InferOutput<Row['data']>>
      : v.InferOutput<Row['data']>
  : Row['media'] extends string
    ? string | Content
    : unknown;

/** The names of a path's parameters, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
}

/** A path as OpenAPI and API Gateway write it: `/api/agents/{name}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** The refusals that a row's shape implies, in the order of checks (docs/architecture.md#order-of-checks). */
export function impliedErrors(row: Endpoint): ErrorCode[] {
  const implied: ErrorCode[] = [];
  if (row.scope) implied.push('unauthorized', 'insufficient_scope', 'rate_limited', 'payload_too_large');
  if (row.body) implied.push('unsupported_media_type', 'invalid_json');
  if (row.params) implied.push('not_found');
  implied.push('validation_failed');
  if (row.method === 'POST') implied.push('idempotency_key_reused');
  if (row.callsOut) implied.push('request_in_progress');
  if (row.versioned && row.method !== 'GET') implied.push('precondition_failed');
  return [...implied, 'internal_error', 'unavailable'];
}

import * as v from 'valibot';
import { type Endpoint, templateOf } from '../contract/endpoint.ts';
import { references } from '../contract/endpoints.ts';
import { etag } from '../contract/examples.ts';
import { requiredScopes } from '../contract/required-scopes.ts';
import { familyOf, routes } from '../contract/routes.ts';
import type { ObjectSchema } from '../contract/shapes.ts';
import { documentedEvents } from './events.ts';
import { eventsTag, overview, tags } from './overview.ts';
import {
  errorExamples,
  errorsOf,
  notModifiedOf,
  responseHeaders,
  sharedErrorResponses,
  successOf,
} from './responses.ts';
import { type Json, namedSchemas, schemaOf } from './schemas.ts';

/** The API reference of any endpoint. */
type Reference = {
  description: string;
  params?: Readonly<Record<string, string>>;
  body?: unknown;
  furtherBodies?: Readonly<Record<string, unknown>>;
  data?: unknown;
};

/** The title of the first example of a body that has several. */
const firstExample = 'Simple';

function parametersOf(row: Endpoint, params: Reference['params'] = {}): Json[] {
  const inPath = Object.entries(row.params ?? {}).map(([name, schema]) => {
    const { description, ...json } = schemaOf(schema, 'input');
    const example = params[name];
    return {
      name,
      in: 'path',
      required: true,
      ...(description ? { description } : {}),
      schema: json,
      ...(example ? { example } : {}),
    };
  });
  const inQuery = Object.entries(row.query?.entries ?? {}).map(([name, schema]) => {
    const { description, ...json } = schemaOf(schema, 'input');
    // The schema parses text, so its default is text too; the document needs the number.
    if (json.type === 'integer') json.default = Number(json.default);
    // A list is one parameter with commas, not one for each value.
    const isList = json.type === 'array';
    return {
      ...{ name, in: 'query', required: !v.is(schema, undefined), ...(description ? { description } : {}) },
      ...(isList && { style: 'form', explode: false }),
      schema: json,
    };
  });
  const headers = [];
  if (row.method === 'POST') headers.push('IdempotencyKey');
  if (row.versioned && row.method !== 'GET') headers.push('IfMatch');
  return [...inPath, ...inQuery, ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function requestBody(schema: ObjectSchema, { body, furtherBodies }: Reference): Json {
  const examples = Object.entries({ [firstExample]: body, ...furtherBodies }).map(([name, value]) => [name, { value }]);
  return {
    // A missing body counts as an empty object: the body is optional if the schema accepts that.
    required: !v.is(schema, {}),
    content: {
      'application/json': {
        schema: closed(schemaOf(schema, 'input')),
        ...(furtherBodies ? { examples: Object.fromEntries(examples) } : { example: body }),
      },
    },
  };
}

/** Returns the schema of a request body that rejects unknown fields. A named one does that itself. */
function closed(schema: Json): Json {
  return '$ref' in schema ? schema : { ...schema, additionalProperties: false };
}

function descriptionOf(row: Endpoint, description: string): string {
  if (!row.scope) return description;
  const scopes = requiredScopes(row).map((scope) => `\`${scope}\``);
  const required = scopes.length === 0 ? 'none; any access token is accepted' : scopes.join(' and ');
  return `${description}\n\nRequired scope${scopes.length > 1 ? 's' : ''}: ${required}.`;
}

/** Returns the security requirement of an endpoint: the scopes that the access token needs, if it needs a token. */
function securityOf(row: Endpoint): Json[] {
  return row.scope ? [{ bearer: requiredScopes(row) }] : [];
}

const components: Json = {
  securitySchemes: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'An access token (`crew_…`). Operators create tokens with `npm run crewboard -- token create`.',
    },
  },
  schemas: namedSchemas(),
  headers: responseHeaders,
  responses: sharedErrorResponses(routes.map(([, row]) => row)),
  examples: errorExamples(),
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request.',
      schema: { type: 'string', pattern: '^[!-~]{1,255}$', examples: ['6f1d0a52-4c0b-4b1e-8d2f-2f1d7c3a9e10'] },
    },
    IfMatch: {
      name: 'If-Match',
      in: 'header',
      description:
        'Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any.',
      schema: { type: 'string', examples: [etag] },
    },
  },
};

/** Returns the OpenAPI 3.1 document of all endpoints and events, which `/openapi.json` serves. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, row] of routes) {
    if (row.undocumented) continue;
    const path = templateOf(row.path);
    const reference: Reference = references[operationId]();
    const parameters = parametersOf(row, reference.params);
    paths[path] ??= {};
    paths[path][row.method.toLowerCase()] = {
      operationId,
      summary: row.summary,
      description: descriptionOf(row, reference.description),
      tags: [tags[familyOf(row)]?.name],
      security: securityOf(row),
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(row.body ? { requestBody: requestBody(row.body, reference) } : {}),
      responses: { [row.status]: successOf(row, reference.data), ...notModifiedOf(row), ...errorsOf(row) },
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Crewboard',
      version: '1',
      summary: 'AI agents, a task board and signed webhooks.',
      description: overview,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that serves this document.' }],
    tags: [tags['kanban-tasks'], tags.agents, tags.webhooks, eventsTag, tags.me, tags.open],
    paths,
    webhooks: documentedEvents(),
    components,
  };
}

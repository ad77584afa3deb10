import * as v from 'valibot';
import { type Endpoint, templateOf } from '../contract/endpoint.ts';
import { references } from '../contract/endpoints.ts';
import { familyOf, routes } from '../contract/routes.ts';
import type { ObjectSchema } from '../contract/shapes.ts';
import { answerHeaders, errorExamples, errorResponses, errorsOf, successOf, unchangedOf } from './answers.ts';
import { documentedEvents } from './events.ts';
import { overview, tags } from './overview.ts';
import { type Json, namedSchemas, schemaOf } from './schemas.ts';

function parameters(row: Endpoint): Json[] {
  const inPath = Object.entries(row.params ?? {}).map(([name, schema]) => {
    const { description, ...json } = schemaOf(schema, 'input');
    return { name, in: 'path', required: true, ...(description ? { description } : {}), schema: json };
  });
  const inQuery = Object.entries(row.query?.entries ?? {}).map(([name, schema]) => {
    const { description, ...json } = schemaOf(schema, 'input');
    // What a query sends is text; a number's default is documented as the number that it stands for.
    if (json.type === 'integer') json.default = Number(json.default);
    return { name, in: 'query', required: false, ...(description ? { description } : {}), schema: json };
  });
  const headers = [];
  if (row.method === 'POST') headers.push('IdempotencyKey');
  if (row.versioned && row.method !== 'GET') headers.push('IfMatch');
  return [...inPath, ...inQuery, ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function requestBody(body: ObjectSchema, example: unknown): Json {
  return {
    // No body counts as an empty object, so one is needed where that would be refused.
    required: !v.is(body, {}),
    content: { 'application/json': { schema: schemaOf(body, 'input'), example } },
  };
}

function described({ scope }: Endpoint, description: string): string {
  return scope ? `${description}\n\nNeeds the scope \`${scope}\`.` : description;
}

const components: Json = {
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: 'A token as `npm run token -- create` makes it: `crew_…`.' },
  },
  schemas: namedSchemas(),
  headers: answerHeaders,
  responses: errorResponses(routes.map(([, row]) => row)),
  examples: errorExamples(),
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours.',
      schema: { type: 'string', pattern: '^[!-~]{1,255}$', examples: ['6f1d0a52-4c0b-4b1e-8d2f-2f1d7c3a9e10'] },
    },
    IfMatch: {
      name: 'If-Match',
      in: 'header',
      description:
        'Refuses the change with 412 unless the resource still has this ETag; several, parted by commas, or `*` for any.',
      schema: { type: 'string', examples: ['"2"'] },
    },
  },
};

/** The OpenAPI 3.1 document of every row and every event, as `/openapi.json` serves it. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, row] of routes) {
    const path = templateOf(row.path);
    const given = parameters(row);
    const { description, body, data }: { description: string; body?: unknown; data?: unknown } =
      references[operationId]();
    paths[path] ??= {};
    paths[path][row.method.toLowerCase()] = {
      operationId,
      summary: row.summary,
      description: described(row, description),
      tags: [familyOf(row)],
      security: row.scope ? [{ bearer: [row.scope] }] : [],
      ...(given.length > 0 ? { parameters: given } : {}),
      ...(row.body ? { requestBody: requestBody(row.body, body) } : {}),
      responses: { [row.status]: successOf(row, data), ...unchangedOf(row), ...errorsOf(row) },
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Crewboard',
      version: '1',
      summary: 'AI agents, the board of tasks they work on, and signed webhooks.',
      description: overview,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that this document comes from.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: documentedEvents(),
    components,
  };
}

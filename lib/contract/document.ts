import { toJsonSchema } from '@valibot/to-json-schema';
import { type Endpoint, impliedRefusals } from './endpoint.ts';
import { familyOf, routes } from './endpoints.ts';
import { detailCodes, type RefusalCode, refusalStatus } from './refusals.ts';
import { type ObjectSchema, Pagination, type Schema } from './shapes.ts';

type Json = { [key: string]: unknown };

/** A schema as OpenAPI 3.1 writes it (JSON Schema 2020-12): of what is sent, or of what is answered. */
function schemaOf(schema: Schema, typeMode: 'input' | 'output'): Json {
  const { $schema: _, ...json } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    ignoreActions: ['check', 'raw_check', 'transform'],
  });
  return json as Json;
}

/** Bodies and queries refuse unknown fields, which the schemas themselves leave to the edge. */
const closed = (schema: Json): Json => ({ ...schema, additionalProperties: false });

function parameters(row: Endpoint): Json[] {
  const inPath = Object.entries(row.params ?? {}).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: schemaOf(schema, 'input'),
  }));
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

function answerSchema(row: Endpoint): Json {
  const properties: Json = { success: { const: true } };
  if (row.data) {
    const data = schemaOf(row.data, 'output');
    properties.data = row.paged ? { type: 'array', items: data } : data;
  }
  if (row.paged) properties.pagination = schemaOf(Pagination, 'output');
  return { type: 'object', properties, required: Object.keys(properties) };
}

function answer(row: Endpoint): Json {
  const headers: Json = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
  if (row.versioned && row.data) headers.ETag = { $ref: '#/components/headers/ETag' };
  const content = row.media
    ? { [row.media]: { schema: { type: 'object' } } }
    : { 'application/json': { schema: answerSchema(row) } };
  return { description: row.summary, headers, content };
}

/** The refusals of a row, one answer a status, each naming the codes that it can carry. */
function refusals(row: Endpoint): Json {
  const codes = [...new Set<RefusalCode>([...impliedRefusals(row), ...(row.refuses ?? [])])];
  const statuses = [...new Set(codes.map((code) => refusalStatus[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const here = codes.filter((code) => refusalStatus[code] === status);
      const content = { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } };
      const headers = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
      return [status, { description: here.join(', '), headers, content }];
    }),
  );
}

function requestBody(body: ObjectSchema): Json {
  const schema = closed(schemaOf(body, 'input'));
  const { required = [] } = schema as { required?: string[] };
  return { required: required.length > 0, content: { 'application/json': { schema } } };
}

const refusalSchema: Json = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        code: { enum: Object.keys(refusalStatus) },
        message: { type: 'string' },
        requestId: { type: 'string' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['path', 'code', 'message'],
            properties: { path: { type: 'string' }, code: { enum: detailCodes }, message: { type: 'string' } },
          },
        },
      },
    },
  },
};

const components: Json = {
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'A token of `npm run token -- create`.' } },
  schemas: { Refusal: refusalSchema },
  headers: {
    RequestId: { description: 'Names this request in logs and error bodies.', schema: { type: 'string' } },
    ETag: { description: 'The version of the resource.', schema: { type: 'string' } },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'The same key with the same request answers the first answer again, for 24 hours.',
      schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    },
    IfMatch: {
      name: 'If-Match',
      in: 'header',
      description: 'Refuses the change with 412 unless the resource still has this ETag.',
      schema: { type: 'string' },
    },
  },
};

/** The OpenAPI 3.1 document of every row, as `/openapi.json` serves it. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, row] of routes) {
    const path = row.path.replace(/:(\w+)/g, '{$1}');
    const given = parameters(row);
    paths[path] ??= {};
    paths[path][row.method.toLowerCase()] = {
      operationId,
      summary: row.summary,
      tags: [familyOf(row)],
      security: row.scope ? [{ bearer: [row.scope] }] : [],
      ...(given.length > 0 ? { parameters: given } : {}),
      ...(row.body ? { requestBody: requestBody(row.body) } : {}),
      responses: { [row.status]: answer(row), ...refusals(row) },
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Crewboard',
      version: '1',
      description: 'AI agents, the board of tasks they work on, and signed webhooks that tell other systems of it.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components,
  };
}

import type { Json } from './schemas.ts';

/** A JSON Schema, with the keywords that the document uses. */
type JsonSchema = {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  type?: string;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | false;
  required?: string[];
  description?: string;
};

type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: JsonSchema };
type Content = { content?: Record<string, { schema: JsonSchema }> };
type Operation = {
  operationId: string;
  summary: string;
  description: string;
  parameters?: (Parameter & { $ref?: string })[];
  requestBody?: Content & { required: boolean };
  responses: Record<string, Content>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, JsonSchema>; parameters: Record<string, Parameter> };
};

/** The request headers that callers can set, each with the name of its field in the client. */
const headerFields: Record<string, string> = { 'Idempotency-Key': 'idempotencyKey', 'If-Match': 'ifMatch' };

const indented = (text: string) => text.replaceAll('\n', '\n  ');
const fieldName = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`);

function comment(text: string | undefined): string {
  if (!text) return '';
  const lines = text.split('\n').map((line) => ` * ${line}`.trimEnd());
  return lines.length === 1 ? `/** ${text} */\n` : `/**\n${lines.join('\n')}\n */\n`;
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));

type Field = { name: string; type: string; required: boolean; description?: string | undefined };

function objectType(fields: readonly Field[]): string {
  if (fields.length === 0) return '{}';
  const lines = fields.map(
    ({ name, type, required, description }) =>
      `${comment(description)}${fieldName(name)}${required ? '' : '?'}: ${type};`,
  );
  return `{\n  ${indented(lines.join('\n'))}\n}`;
}

/**
 * Returns the TypeScript type of a schema.
 *
 * @throws `Error` for a schema of an unknown kind
 */
function typeOf(schema: JsonSchema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) as string;
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  const { type, items, properties, additionalProperties, required = [] } = schema;
  if (type === 'array' && items) {
    const item = typeOf(items);
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
  }
  if (type === 'object' && !properties)
    return `Record<string, ${additionalProperties ? typeOf(additionalProperties) : 'unknown'}>`;
  if (type === 'object')
    return objectType(
      Object.entries(properties as Record<string, JsonSchema>).map(([name, inner]) => ({
        name,
        type: typeOf(inner),
        required: required.includes(name),
        description: inner.description ?? inner.anyOf?.[0]?.description,
      })),
    );
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type;
  throw new Error(`There is no TypeScript type for ${JSON.stringify(schema)}.`);
}

/** Returns the TypeScript type of a request: path parameters, query, body and headers. */
function requestType({ parameters = [], requestBody }: Operation, components: Document['components']): string {
  const resolved = parameters.map((one) =>
    one.$ref ? components.parameters[one.$ref.split('/').at(-1) as string] : one,
  );
  const sent = (place: string) => resolved.filter((one): one is Parameter => one?.in === place);
  const group = (name: string, place: string) => {
    const fields = sent(place).map(({ name, required = false, description, schema }) => ({
      name,
      type: typeOf(schema),
      required,
      description,
    }));
    return fields.length > 0
      ? [{ name, type: objectType(fields), required: fields.some(({ required }) => required) }]
      : [];
  };
  const schema = requestBody?.content?.['application/json']?.schema;
  return objectType([
    ...group('params', 'path'),
    ...group('query', 'query'),
    ...(schema ? [{ name: 'body', type: typeOf(schema), required: requestBody?.required === true }] : []),
    ...sent('header').map(({ name, description }) => ({
      name: headerFields[name] ?? name,
      // Lets callers pass on an ETag that may be `undefined`.
      type: 'string | undefined',
      required: false,
      description,
    })),
  ]);
}

/** Returns the fields of the response envelope of an operation; `undefined` for a response without the envelope. */
function envelopeOf({ responses }: Operation): Record<string, JsonSchema> | undefined {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const properties = success?.content?.['application/json']?.schema.properties;
  return properties?.success && properties;
}

/** Returns the type of `paged`: whether a list has a total, or a cursor. */
function pagedOf({ pagination }: Record<string, JsonSchema>): string {
  if (!pagination) return 'false';
  return pagination.$ref?.endsWith('/CursorPagination') ? "'cursor'" : 'true';
}

/**
 * Returns the source of `lib/client/operations.ts`: all schemas and operations of the OpenAPI document as TypeScript
 * types, and the method and path of each operation. It imports nothing, so that other projects can copy it.
 */
export function clientSource(document: Json): string {
  const { paths, webhooks, components } = document as unknown as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const envelope = envelopeOf(operation);
      return envelope ? [{ path, method: method.toUpperCase(), operation, envelope }] : [];
    }),
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};`,
  );
  const types = operations.map(({ operation, envelope }) => {
    const fields = [
      { name: 'request', type: requestType(operation, components), required: true },
      { name: 'data', type: envelope.data ? typeOf(envelope.data) : 'undefined', required: true },
      { name: 'paged', type: pagedOf(envelope), required: true },
    ];
    return {
      name: operation.operationId,
      type: objectType(fields),
      required: true,
      description: `${operation.summary}.\n\n${operation.description}`,
    };
  });
  const deliveries = Object.entries(webhooks).map(([name, { post }]) => ({
    name,
    type: typeOf(post.requestBody?.content?.['application/json']?.schema as JsonSchema),
    required: true,
    description: post.description.split('\n')[0],
  }));
  const routes = operations.map(
    ({ path, method, operation }) => `  ${operation.operationId}: { method: '${method}', path: '${path}' },`,
  );
  return `// Generated from the contract by \`npm run generate\`. Change the contract, not this file.

${schemas.join('\n\n')}

/** The bodies of deliveries, by event. */
export type Deliveries = ${objectType(deliveries)};

/** The request and the response data of each operation. */
export type Operations = ${objectType(types)};

/** The method and the path of each operation. */
export const operations = {
${routes.join('\n')}
} as const;

/** The names of all events. */
export const eventNames = [
${Object.keys(webhooks)
  .map((name) => `  ${literal(name)},`)
  .join('\n')}
] as const satisfies readonly EventName[];
`;
}

/**
 * Returns the type of the body of a delivery, as `Delivery`, with the types that it needs. Events with the same data are
 * one member of the union.
 */
export function deliverySource(document: Json): string {
  const { webhooks, components } = document as unknown as Document;
  const namesByData = Map.groupBy(Object.keys(webhooks), (name) => dataOf(webhooks[name]?.post as Operation));
  const types = new Map<string, string>();
  const declare = (name: string): void => {
    const schema = components.schemas[name] as JsonSchema;
    for (const needed of namesIn(schema)) if (!types.has(needed)) declare(needed);
    types.set(name, `${comment(schema.description)}type ${name} = ${typeOf(schema)};`);
  };
  for (const data of namesByData.keys()) declare(data);
  const members = [...namesByData].map(
    ([data, names]) => `  | { event: ${names.map(literal).join(' | ')}; data: ${data} }`,
  );
  return `${[...types.values()].join('\n\n')}

/**
 * The body of a delivery. Times are ISO 8601 UTC: \`timestamp\` is the time of this attempt, \`data.occurredAt\` the time
 * of the event. Retries have the same \`deliveryId\`: use it to ignore duplicates. Unset fields are absent.
 */
export type Delivery = { deliveryId: string; timestamp: string } & (
${members.join('\n')}
);
`;
}

/** Returns the name of the schema of the data of an event. */
function dataOf({ requestBody }: Operation): string {
  return typeOf(requestBody?.content?.['application/json']?.schema.properties?.data as JsonSchema);
}

/** Returns the names of the schemas that a schema refers to. */
function namesIn(schema: JsonSchema): string[] {
  const inner = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? []), schema.items ?? []].flat();
  return schema.$ref ? [typeOf(schema)] : inner.flatMap(namesIn);
}

type Schema = { $ref?: string; examples?: unknown[]; enum?: unknown[]; default?: unknown };
type Parameter = { name: string; in: string; required?: boolean; schema: Schema; example?: unknown };
type Content = { example?: unknown; examples?: Record<string, { value: unknown }> };
type Message = { content?: Record<string, Content> };
type Operation = { parameters?: Parameter[]; requestBody?: Message; responses: Record<string, Message> };

/** The part of an OpenAPI document that has the examples. */
export type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** A request by the examples of an operation, and the success that the document promises. */
export type ExampleRequest = {
  method: string;
  path: string;
  query: string;
  body: unknown;
  title: string;
  status: string;
  /** The content of the success response, if it is JSON with an example. */
  success: Content | undefined;
};

/**
 * Returns the requests by all examples of a document, in its order: of each operation first the one by the first example
 * of its body and the query parameters that it needs, then those by its further examples and with all query parameters.
 */
export function exampleRequests({ paths, components }: Document): {
  first: ExampleRequest[];
  further: ExampleRequest[];
} {
  const requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      requestsOf(path, method.toUpperCase(), operation, components.schemas),
    ),
  );
  return {
    first: requests.flatMap(([request]) => (request ? [request] : [])),
    further: requests.flatMap(([, ...others]) => others),
  };
}

function requestsOf(
  path: string,
  method: string,
  operation: Operation,
  schemas: Record<string, Schema>,
): ExampleRequest[] {
  const [status, { content }] = successOf(operation);
  const [json] = [content?.['application/json']].filter((one) => one?.example !== undefined);
  const examplesIn = (place: string, isWanted = (_: Parameter) => true) =>
    (operation.parameters ?? [])
      .filter((one) => one.in === place && isWanted(one))
      .map((one): [string, string] => [one.name, exampleOf(one, schemas)]);
  const filledIn = examplesIn('path').reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
  const needed = new URLSearchParams(examplesIn('query', ({ required = false }) => required)).toString();
  const request = { method, path: filledIn, query: needed, body: undefined, title: 'as it is', status, success: json };
  // `after` excludes `before`, and `waiting_for` excludes `status`.
  const queried = new Map(examplesIn('query'));
  if (queried.has('after')) queried.delete('before');
  if (queried.has('waiting_for')) queried.delete('status');
  const query = new URLSearchParams([...queried]).toString();
  const bodies = bodiesOf(operation.requestBody?.content?.['application/json']);
  return [
    ...(bodies.length > 0 ? bodies.map((body) => ({ ...request, ...body })) : [request]),
    ...(query ? [{ ...request, title: 'with all query parameters', query }] : []),
  ];
}

/** Returns the success response of an operation, with its status. */
function successOf({ responses }: Operation): [string, Message] {
  return Object.entries(responses).find(([status]) => status.startsWith('2')) as [string, Message];
}

function bodiesOf({ example, examples = {} }: Content = {}): { title: string; body: unknown }[] {
  if (example !== undefined) return [{ title: 'as it is', body: example }];
  return Object.entries(examples).map(([title, { value }]) => ({ title, body: value }));
}

/**
 * Returns the example of a parameter: its own, or a value that its schema names.
 *
 * @throws Error if there is none
 */
function exampleOf({ name, schema, example }: Parameter, schemas: Record<string, Schema>): string {
  const named = schemas[schema.$ref?.split('/').at(-1) ?? ''];
  const value = example ?? schema.examples?.[0] ?? schema.default ?? (named ?? schema).enum?.[0];
  if (value === undefined) throw new Error(`The parameter ${name} has no example.`);
  return String(value);
}

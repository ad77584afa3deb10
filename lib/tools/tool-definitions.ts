import type * as v from 'valibot';
import { type Endpoint, pathParameters } from '../contract/endpoint.ts';
import { endpoints } from '../contract/endpoints.ts';
import type { ErrorDetail } from '../contract/errors.ts';
import { checkBody, checkQuery, lostNumberErrors, queryEntries, validationFailed } from '../contract/requests/check.ts';
import { validate } from '../contract/requests/validate.ts';
import { type OperationTool, readTools } from './tool-list.ts';

/** The name of an operation of the API, such as `listTasks`. */
export type OperationId = keyof typeof endpoints;

/** The input of a tool, by the parts of a request. The values of the query are texts, as in a URL. */
export type ToolInputParts = {
  params: Record<string, unknown>;
  query: Record<string, string>;
  body: Record<string, unknown> | undefined;
};

let tools: Readonly<Record<string, OperationTool>> | undefined;

/**
 * Returns the tool of an operation: its name in snake_case (`listTasks` → `list_tasks`), its words, the JSON Schema of
 * path parameters, query and body together, and its hints. All follow from the row of the contract and its reference.
 */
export function toolOf(operationId: OperationId): OperationTool {
  tools ??= readTools();
  return tools[operationId] as OperationTool;
}

/**
 * Returns the input of a tool by the parts of a request, unchecked. Names that the operation does not know are in the body,
 * or in the query if it has no body.
 */
export function splitToolInput(operationId: OperationId, input: Readonly<Record<string, unknown>>): ToolInputParts {
  const row: Endpoint = endpoints[operationId];
  const inPath = new Set(pathParameters(row.path));
  const inQuery = queryEntries(row);
  const parts: Record<'params' | 'query' | 'body', [string, unknown][]> = { params: [], query: [], body: [] };
  for (const entry of Object.entries(input)) {
    const [name, value] = entry;
    if (inPath.has(name)) parts.params.push(entry);
    else if (row.body && !Object.hasOwn(inQuery, name)) parts.body.push(entry);
    else parts.query.push([name, queryTextOf(value)]);
  }
  return {
    params: Object.fromEntries(parts.params),
    query: Object.fromEntries(parts.query) as Record<string, string>,
    body: row.body && Object.fromEntries(parts.body),
  };
}

/** Returns a value of the query as text, as in a URL: a list of texts has commas between them. */
function queryTextOf(value: unknown): string {
  const texts = Array.isArray(value) ? value : [value];
  return texts.every((one) => typeof one === 'string') ? texts.join(',') : JSON.stringify(value);
}

/** The validated input of an operation. */
export type ToolInput<Id extends OperationId> = {
  params: Outputs<(typeof endpoints)[Id]>;
  query: OutputOf<(typeof endpoints)[Id], 'query'>;
  body: OutputOf<(typeof endpoints)[Id], 'body'>;
};

type Outputs<Row> = Row extends { params: infer Schemas extends Readonly<Record<string, v.GenericSchema>> }
  ? { [Name in keyof Schemas]: v.InferOutput<Schemas[Name]> }
  : object;
type OutputOf<Row, Part extends 'query' | 'body'> =
  Row extends Record<Part, infer Schema extends v.GenericSchema> ? v.InferOutput<Schema> : undefined;

/**
 * Returns the validated input of a tool as the HTTP API would pass it to the operation.
 *
 * @param sent the text of JSON that has the input, and its path in it, if they are known
 * @throws `ApiError` `validation_failed` with the details that the HTTP API would send, and one for each missing or
 * malformed path parameter
 */
export function readToolInput<const Id extends OperationId>(
  operationId: Id,
  input: Readonly<Record<string, unknown>>,
  sent?: { json: string; at: readonly string[] },
): ToolInput<Id> {
  const row: Endpoint = endpoints[operationId];
  const parts = splitToolInput(operationId, input);
  const params = checkParams(row, parts.params);
  const query = checkQuery(row, parts.query);
  const body = row.body ? checkBody(row, parts.body) : { output: undefined, errors: [] };
  const numbers = sent ? lostNumberErrors(row, sent.json, sent.at) : [];
  const errors = [...params.errors, ...query.errors, ...body.errors, ...numbers];
  if (errors.length > 0) throw validationFailed(errors);
  return { params: params.output, query: query.output, body: body.output } as ToolInput<Id>;
}

/** Checks path parameters. Over HTTP a malformed one is 404; the caller of a tool learns which one is wrong. */
function checkParams(row: Endpoint, sent: Readonly<Record<string, unknown>>) {
  const errors: ErrorDetail[] = [];
  const output: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(row.params ?? {})) {
    const checked = validate(schema, sent[name]);
    output[name] = checked.output;
    // The schema describes one value, so its errors do not have the name.
    const isMissing = sent[name] === undefined;
    for (const { code, message } of checked.errors)
      errors.push({
        path: name,
        code: isMissing ? 'required' : code,
        message: isMissing ? `${name} is required` : `${name}${message}`,
      });
  }
  return { output, errors };
}

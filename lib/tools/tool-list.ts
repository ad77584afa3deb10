import * as v from 'valibot';
import type { Endpoint } from '../contract/endpoint.ts';
import { references } from '../contract/endpoints.ts';
import { fileNameOf, routes } from '../contract/routes.ts';
import type { Schema } from '../contract/shapes.ts';
import type { ToolDefinition } from '../model/converse.ts';
import { standaloneSchemaOf } from '../openapi/schemas.ts';
import { clearing, isClearable, portableSchema } from './tool-schemas.ts';

/** What a tool may do, in the words of the Model Context Protocol. */
type ToolHints = {
  /** The tool changes nothing. */
  readOnlyHint: boolean;
  /** The tool may delete or overwrite something. */
  destructiveHint: boolean;
  /** A second call with the same input changes nothing more. */
  idempotentHint: boolean;
  /** The tool reaches systems outside the service. */
  openWorldHint: boolean;
};

/** A tool that carries out an operation of the API. */
export type OperationTool = ToolDefinition & { title: string; hints: ToolHints };

/**
 * Returns the tools of all operations that need an access token, by operation id, without the operation that offers them. A
 * bundle has them as data.
 */
export function readTools(): Record<string, OperationTool> {
  return Object.fromEntries(
    routes
      .filter(([, row]) => row.scope && !row.offersTools)
      .map(([operation, row]) => [operation, toolFrom(operation, row)]),
  );
}

/** Returns the name of the tool of an operation: `list_tasks` for `listTasks`. */
const toolNameOf = (operation: string) => fileNameOf(operation).replaceAll('-', '_');

function toolFrom(operation: keyof typeof references, row: Endpoint): OperationTool {
  const { description }: { description: string } = references[operation]();
  return {
    name: toolNameOf(operation),
    title: row.summary,
    description: `${row.summary}. ${withoutNull(description)}`,
    inputSchema: inputSchemaOf(operation, row),
    hints: hintsOf(row),
  };
}

/** Returns a description without the sentence that `null` clears a field: in a call of a tool it does not. */
const withoutNull = (description: string) => description.replace(/`null` [^.]*\. /, '');

/**
 * Returns the JSON Schema of the input: path parameters, query and body in one object.
 *
 * @throws `Error` if two parts have a field of the same name
 */
function inputSchemaOf(operation: string, { params = {}, query, body }: Endpoint): Record<string, unknown> {
  const parts: Readonly<Record<string, Schema>>[] = [params, query?.entries ?? {}, body?.entries ?? {}];
  const names = parts.flatMap((entries) => Object.keys(entries));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice) throw new Error(`${operation} has ${twice} in two parts of its request; a tool needs different names.`);
  const entries: Record<string, Schema> = Object.assign({}, ...parts);
  const clearable = Object.entries(entries).flatMap(([name, schema]) => (isClearable(schema) ? [name] : []));
  const properties = {
    ...Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, propertyOf(schema)])),
    ...(clearable.length > 0 && {
      [clearing]: {
        type: 'array',
        items: { type: 'string', enum: clearable },
        description: 'Fields to clear. A field that is null or empty stays as it is.',
      },
    }),
  };
  const required = Object.entries(entries).flatMap(([name, schema]) => (v.is(schema, undefined) ? [] : [name]));
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Returns the JSON Schema of a field. Parameters of a query are parsed from text, and so are their defaults. */
function propertyOf(schema: Schema): Record<string, unknown> {
  const json = portableSchema(standaloneSchemaOf(isClearable(schema) ? schema.wrapped : schema));
  return json.type === 'integer' && typeof json.default === 'string'
    ? { ...json, default: Number(json.default) }
    : json;
}

function hintsOf({ method, callsOut }: Endpoint): ToolHints {
  return {
    readOnlyHint: method === 'GET',
    destructiveHint: method === 'PATCH' || method === 'DELETE',
    idempotentHint: method !== 'POST',
    openWorldHint: callsOut === true,
  };
}

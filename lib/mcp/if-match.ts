import type { Tool } from '@modelcontextprotocol/server';
import type { Endpoint } from '../contract/endpoint.ts';
import { endpoints } from '../contract/endpoints.ts';
import { validationFailed } from '../contract/requests/check.ts';
import type { OperationId } from '../tools/tool-definitions.ts';

/**
 * The `If-Match` of tools. A result of a versioned resource has its `etag`. A tool that changes the resource takes it as `ifMatch`,
 * so that the change fails if somebody else has changed the resource since. Over HTTP both are headers.
 */

type Input = Readonly<Record<string, unknown>>;

/** The argument, which six tools have: its words are few. */
const property = { type: 'string', description: 'The `etag` that you read: if it is old, nothing changes.' };

/** Returns whether an operation changes a versioned resource. */
function takesIfMatch(operation: OperationId): boolean {
  const { versioned, method }: Endpoint = endpoints[operation];
  return versioned === true && method !== 'GET';
}

/** Returns a tool with the argument `ifMatch`, if its operation changes a versioned resource. */
export function withIfMatch(operation: OperationId, tool: Tool): Tool {
  if (!takesIfMatch(operation)) return tool;
  const { inputSchema } = tool;
  return { ...tool, inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, ifMatch: property } } };
}

/**
 * Returns the value of the header `If-Match` for the arguments of a tool, and the other arguments. As for other arguments, null and
 * an empty text count as left out, with a note for the model.
 *
 * @throws `ApiError` `validation_failed`
 */
export function readIfMatch(operation: OperationId, sent: Input): { header?: string; note?: string; input: Input } {
  if (!takesIfMatch(operation) || !Object.hasOwn(sent, 'ifMatch')) return { input: sent };
  const { ifMatch, ...input } = sent;
  if (ifMatch === null || ifMatch === '') return { note: 'ifMatch was null or empty: no version was compared.', input };
  if (typeof ifMatch !== 'string')
    throw validationFailed([{ path: 'ifMatch', code: 'invalid_type', message: 'ifMatch must be a string' }]);
  // The header has quotation marks, and so may a model that knows it.
  return { header: /["*]/.test(ifMatch) ? ifMatch : `"${ifMatch}"`, input };
}

/** Returns the ETag of a response without its quotation marks, which models lose; `undefined` if the resource has no version. */
export function etagIn(headers: Readonly<Record<string, string>>): string | undefined {
  return headers.ETag?.replaceAll('"', '');
}

import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { endpoints } from '../contract/endpoints.ts';
import type { ToolList } from '../contract/open/mcp.ts';
import { hasScopes, requiredScopes } from '../contract/required-scopes.ts';
import { familyOf } from '../contract/routes.ts';
import { callerOf } from '../http/api-event.ts';
import { isPassedOn } from '../http/middleware/payload.ts';
import { type OperationId, toolOf } from '../tools/tool-definitions.ts';
import { outputOf, type Response } from '../tools/tool-output.ts';
import { callOperation, type McpRequest, type OperationResponse } from './call-operation.ts';
import { etagIn, withIfMatch } from './if-match.ts';
import { shortTool } from './short-tool.ts';

/** The maximum size of the result of a list, in bytes: clients cut longer results, or stop. */
const listBytes = 64 * 1024;

/** Returns the tools that the scopes of the caller's access token allow, in the order of the API reference. */
export function listTools(request: McpRequest): Tool[] {
  const { scopes } = callerOf(request.event);
  return offeredBy(request)
    .filter((operation) => hasScopes(scopes, requiredScopes(endpoints[operation])))
    .map((operation) => withIfMatch(operation, shortTool(toolOf(operation))));
}

/** The path family of each list of tools, and the operations of other families that belong to it. */
const lists: Readonly<Record<Exclude<ToolList, 'all'>, { family: string; others: readonly OperationId[] }>> = {
  board: { family: 'kanban-tasks', others: ['executeAgent', 'getExecution', 'listExecutions'] },
  agents: { family: 'agents', others: [] },
  webhooks: { family: 'webhooks', others: [] },
};

/** Returns the operations of the list of tools that the client has chosen, in the order of the API reference. */
function offeredBy({ handlers, event }: McpRequest): OperationId[] {
  const offered = (Object.keys(endpoints) as OperationId[]).filter((operation) => handlers[operation]);
  const { tools } = (event.state as { query: { tools: ToolList } }).query;
  if (tools === 'all') return offered;
  const { family, others } = lists[tools];
  return offered.filter((operation) => familyOf(endpoints[operation]) === family || others.includes(operation));
}

/** Returns the offered operation whose tool has a name; `undefined` if there is none. */
export function operationOf(request: McpRequest, toolName: string): OperationId | undefined {
  return offeredBy(request).find((operation) => toolOf(operation).name === toolName);
}

/**
 * Calls a tool. The result is the JSON of `data`, with `etag` for a versioned resource and `pagination` for a list. A list that is
 * too long is cut, with a note. An error of the API is a result too, with `isError`, so that the model can correct its call.
 */
export async function callClientTool(
  request: McpRequest,
  operation: OperationId,
  input: Readonly<Record<string, unknown>>,
): Promise<CallToolResult> {
  const result = toolResultOf(await callOperation(request, operation, input));
  // The text is escaped once in the message, and once more in what the function returns.
  return isPassedOn({ body: JSON.stringify(result) }) ? result : toolError(tooLarge);
}

const tooLarge = {
  code: 'payload_too_large',
  message: 'The result is too large for one response; ask for fewer items with limit. A change was made nevertheless.',
};

/** Returns the result of a tool for the response of its operation. */
function toolResultOf(response: OperationResponse): CallToolResult {
  if (response.status >= 400) return toolError(errorOf(response));
  const { success, data, pagination } = response.body;
  const { note } = response;
  if (data === undefined) return textResult(JSON.stringify({ success, note }));
  const result = { data, etag: etagIn(response.headers), pagination, note } as Response;
  return textResult(Array.isArray(data) ? outputOf(result, listBytes) : JSON.stringify(result));
}

/** Returns the error of a response, with the seconds to wait if it names them. */
export function errorOf({ body, headers }: OperationResponse): Record<string, unknown> {
  const retryAfter = headers['Retry-After'];
  return { ...(body.error as object), ...(retryAfter && { retryAfterSeconds: Number(retryAfter) }) };
}

/** Returns a tool result that reports an error to the model. */
function toolError(error: Readonly<Record<string, unknown>>): CallToolResult {
  return { ...textResult(JSON.stringify({ error })), isError: true };
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

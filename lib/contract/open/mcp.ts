import * as v from 'valibot';
import { type ApiReference, type Endpoint, endpoint } from '../endpoint.ts';
import { requiredScopes } from '../required-scopes.ts';
import { described, oneOf } from '../shapes.ts';

/**
 * Returns whether models can call an endpoint as a tool. Changes of webhooks are not offered, because they send data to
 * other systems. Endpoints that use secrets or ask models are not offered either: the function needs no right to do so. Nor are the
 * ways for people alone.
 */
export function isOfferedAsTool(row: Endpoint): boolean {
  const { scope, offersTools, forPeople, secrets, asksModels } = row;
  const changesWebhooks = requiredScopes(row).includes('webhooks:write');
  return scope !== undefined && !changesWebhooks && !offersTools && !forPeople && !secrets && !asksModels;
}

/** The lists of tools that a client can choose from. */
export const ToolList = oneOf(['board', 'agents', 'webhooks', 'all']);
export type ToolList = v.InferOutput<typeof ToolList>;

export const mcp = endpoint({
  method: 'POST',
  path: '/mcp',
  scope: 'any',
  summary: 'Call tools over the Model Context Protocol',
  offersTools: true,
  query: v.object({ tools: v.optional(described(ToolList, 'The list of tools that the client gets.'), 'all') }),
  status: 200,
  media: 'application/json',
  undocumented: true,
  errors: ['origin_not_allowed'],
});

export const mcpReference = (): ApiReference<typeof mcp> => ({
  description:
    'Answers a message of the Model Context Protocol (Streamable HTTP, stateless). The tools are the operations of this document that the scopes of the access token allow.',
});

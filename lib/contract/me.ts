import * as v from 'valibot';
import { type ApiReference, endpoint, scopes } from './endpoint.ts';
import * as examples from './examples.ts';
import { described, oneOf, Timestamp } from './shapes.ts';

/** The organization and the access token of a caller. */
export const Me = v.object({
  organization: described(v.string(), 'Name of the organization that the access token belongs to.'),
  token: v.object({
    id: described(v.string(), 'Id of the access token: the 12 characters after `crew_`, as `token list` shows them.'),
    name: v.optional(described(v.string(), 'What the access token is for; absent if it has no name.')),
    createdAt: Timestamp,
  }),
  scopes: described(v.array(oneOf(scopes)), 'The scopes of the access token. No scope implies another.'),
  simulatedModel: described(
    v.boolean(),
    'Whether the built-in simulator of the local service answers for agents. If not, a model does, whose tokens can cost money.',
  ),
});
export type Me = v.InferOutput<typeof Me>;

export const getMe = endpoint({
  method: 'GET',
  path: '/api/me',
  scope: 'any',
  summary: 'Get the organization and the scopes of the access token',
  status: 200,
  data: Me,
});

export const getMeReference = (): ApiReference<typeof getMe> => ({
  description:
    'Returns what the service knows about the access token of the request: its organization, its name and its scopes, and whether agents are only simulated. It needs no read beyond that of the token, so it is the cheapest request to check a token with.',
  data: {
    organization: 'acme',
    token: { id: examples.tokenId, name: 'console', createdAt: examples.founded },
    scopes: ['tasks:read', 'tasks:write', 'agents:read'],
    simulatedModel: false,
  },
});

import type { MiddlewareObj } from '@middy/core';
import type { Context } from '../context.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { ApiError } from '../contract/errors.ts';
import { readStoredToken, type StoredToken } from '../table/tokens.ts';
import { type ApiEvent, type ApiResult, type Caller, header } from './api-event.ts';
import { isSecret, readToken } from './token.ts';

/**
 * How long a token is cached, and so the longest time until a revocation takes effect
 * (docs/architecture.md#access-tokens).
 */
const cachedForMs = 30_000;
const cachedAtMost = 1_000;

/**
 * Finds out who calls and whether the row is theirs to call: 401 for whatever is not a live token, 403 without its
 * scope. Done here and not by a gateway authorizer, which can answer neither our envelope nor our headers.
 */
export function authenticate(row: Endpoint, open: () => Context): MiddlewareObj<ApiEvent, ApiResult> {
  const { scope } = row;
  return {
    before: async ({ event }) => {
      if (!scope) return;
      const caller = await identify(header(event, 'Authorization'), open());
      event.state = { ...event.state, caller };
      if (!caller.scopes.includes(scope))
        throw new ApiError(
          'insufficient_scope',
          `This access token does not have the scope ${scope}; use a token that has it.`,
        );
    },
  };
}

async function identify(authorization: string | undefined, context: Context): Promise<Caller> {
  const [, sent = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  const parts = readToken(sent);
  const token = parts && (await find(parts.id, context));
  if (!token || !isSecret(parts.secret, token.hash) || token.revokedAt) throw unauthorized();
  if (token.expires && Date.parse(token.expires) <= context.clock()) throw unauthorized();
  const { organization, scopes, requestsPerMinute } = token;
  return { organization, tokenId: token.id, scopes, requestsPerMinute };
}

async function find(id: string, context: Context): Promise<StoredToken | undefined> {
  const { cachedTokens: cache, clock } = context;
  const cached = cache.get(id);
  if (cached && clock() < cached.until) return cached.token;
  const token = await readStoredToken(context, id);
  cache.delete(id);
  // Only what exists is kept, the oldest given up first: made-up ids cannot push real ones out.
  if (token) cache.set(id, { token, until: clock() + cachedForMs });
  if (cache.size > cachedAtMost) cache.delete(cache.keys().next().value as string);
  return token;
}

/** One answer for a token that is missing, malformed, unknown, expired or revoked: it tells a guesser nothing. */
function unauthorized(): ApiError {
  const message = 'The access token is missing or invalid; send a valid one, as in Authorization: Bearer crew_….';
  return new ApiError('unauthorized', message, [], { 'WWW-Authenticate': 'Bearer' });
}

import type { MiddlewareObj } from '@middy/core';
import type { CachedToken, Context } from '../../context/context.ts';
import { setBounded } from '../../contract/bounded-map.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { requiredScopes, requireScopes } from '../../contract/required-scopes.ts';
import { runWithoutRequest } from '../../table/access/current-request.ts';
import { noteTokenUse, tokenUsePeriodMs } from '../../table/organizations/token-uses.ts';
import { readStoredToken } from '../../table/organizations/tokens.ts';
import { type ApiEvent, type ApiResult, type Caller, header } from '../api-event.ts';
import { isSecret, readToken } from '../token.ts';

/**
 * How long a process caches a token, and so the longest time until a revocation takes effect
 * (docs/architecture.md#access-tokens).
 */
const cachedForMs = 30_000;
const cachedTokensLimit = 1_000;

/**
 * Returns the middleware that identifies the caller by the access token and checks its scopes: 401 without a valid
 * token, 403 without a scope of the endpoint. An authorizer of API Gateway could not respond with the error format
 * and the headers of this API.
 */
export function authenticate(row: Endpoint, getContext: () => Context): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: async ({ event }) => {
      if (!row.scope) return;
      const { caller, report } = await identify(header(event, 'Authorization'), getContext());
      event.state = { ...event.state, caller, useReport: report };
      requireScopes(caller.scopes, requiredScopes(row));
    },
  };
}

/** The same for an unknown, expired or revoked token: it reveals nothing to attackers. */
const invalid = 'The access token is not valid; send a valid one';

async function identify(
  authorization: string | undefined,
  context: Context,
): Promise<{ caller: Caller; report: Promise<void> | undefined }> {
  if (!authorization) throw unauthorized('The request has no access token; send one');
  const [, sent = ''] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  const parts = readToken(sent);
  if (!parts) throw unauthorized('The access token is malformed; send it unchanged');
  const cached = await find(parts.id, context);
  const { token } = cached ?? {};
  if (!cached || !token || !isSecret(parts.secret, token.hash) || token.revokedAt) throw unauthorized();
  if (token.expires && Date.parse(token.expires) <= context.clock()) throw unauthorized();
  const { id, name, createdAt, organization, scopes, requestsPerMinute, person = false } = token;
  const named = { tokenId: id, tokenName: name, tokenCreatedAt: createdAt, isPerson: person };
  const caller = { organization, ...named, scopes, requestsPerMinute };
  return { caller, report: reportUse(context, cached) };
}

/**
 * Notes in the table that a token is used, if no use in the last hour is known here. The request does not wait for it; a
 * failed note is repeated with a later request. The promise never rejects.
 */
function reportUse({ table, clock, log }: Context, cached: CachedToken): Promise<void> | undefined {
  const { token, nextUseAt } = cached;
  const now = clock();
  if (now < nextUseAt && nextUseAt <= now + tokenUsePeriodMs) return undefined;
  cached.nextUseAt = now + cachedForMs;
  return runWithoutRequest(async () => {
    try {
      cached.nextUseAt = (await noteTokenUse(table, token, now)) + tokenUsePeriodMs;
    } catch (error) {
      log.warn('the use of a token was not noted', { tokenId: token.id, error: error as Error });
    }
  });
}

async function find(id: string, context: Context): Promise<CachedToken | undefined> {
  const { cachedTokens: cache, clock } = context;
  const cached = cache.get(id);
  const now = clock();
  // After a step back of the clock, the end is further away than it can be.
  if (cached && now < cached.until && cached.until <= now + cachedForMs) return cached;
  const token = await readStoredToken(context, id);
  cache.delete(id);
  // Unknown ids are not cached, so that requests with invented ids cannot push out valid tokens.
  if (!token) return undefined;
  const read = { token, until: clock() + cachedForMs, nextUseAt: cached?.nextUseAt ?? 0 };
  setBounded(cache, id, read, cachedTokensLimit);
  return read;
}

/** Returns the error for a request without a valid token. */
function unauthorized(problem = invalid): ApiError {
  const message = `${problem}, as in Authorization: Bearer crew_….`;
  return new ApiError('unauthorized', message, [], { 'WWW-Authenticate': 'Bearer' });
}

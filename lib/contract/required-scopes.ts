import type { Endpoint, Scope } from './endpoint.ts';
import { ApiError } from './errors.ts';

/** Returns the scopes that an access token needs to call an endpoint, all of them; none if every token may call it. */
export function requiredScopes({ scope }: Endpoint): readonly Scope[] {
  if (scope === undefined || scope === 'any') return [];
  return typeof scope === 'string' ? [scope] : scope;
}

/** Returns whether an access token has all of these scopes. */
export function hasScopes(held: readonly Scope[], required: readonly Scope[]): boolean {
  return required.every((scope) => held.includes(scope));
}

/**
 * Checks that an access token has all of these scopes.
 *
 * @param purpose what needs them, if it is not the operation, in the plural: `the tools of builder`
 * @throws `ApiError` `insufficient_scope`, whose message names the missing scopes
 */
export function requireScopes(held: readonly Scope[], required: readonly Scope[], purpose?: string): void {
  const missing = required.filter((scope) => !held.includes(scope));
  if (missing.length === 0) return;
  const [named, them] = missing.length === 1 ? ['scope', 'it'] : ['scopes', 'them'];
  const neededBy = purpose === undefined ? '' : `, which ${purpose} need`;
  throw new ApiError(
    'insufficient_scope',
    `This access token does not have the ${named} ${missing.join(' and ')}${neededBy}; use a token that has ${them}.`,
  );
}

import { createContext, useContext } from 'react';
import { type Client, CrewboardError, createClient } from '../client/client.ts';
import type { Operations } from '../client/operations.ts';
import { readStored, store } from './storage.ts';

/** The caller that `GET /api/me` returns. */
type Me = Operations['getMe']['data'];

/** A scope of an access token. */
export type Scope = Me['scopes'][number];

/** A session: a client with the access token of the user, and what the service says of the token. */
export type Session = { client: Client; token: string; me: Me };

/** The session for all components below the sign-in page. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** Returns the session. Only components below the sign-in page call it. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session above this component.');
  return session;
}

/** Returns the client of the session. */
export function useClient(): Client {
  return useSession().client;
}

/** Returns whether the token has a scope. Parts of a screen that need another one are absent. */
export function useScope(scope: Scope): boolean {
  return useSession().me.scopes.includes(scope);
}

/** The key of the token in `sessionStorage`, which a browser deletes with the tab. */
const storageKey = 'crewboard.token';

/** Returns the stored token. */
export function storedToken(): string | undefined {
  return readStored('sessionStorage', storageKey);
}

/** Stores the token for this tab; `undefined` deletes it. */
export function storeToken(token: string | undefined): void {
  store('sessionStorage', storageKey, token);
}

/**
 * Returns the session of a token.
 *
 * @throws `CrewboardError`, for example with status 401 if the token is not valid
 */
export async function openSession(token: string): Promise<Session> {
  try {
    const client = createClient({ url: location.origin, token, tries: 2 });
    return { client, token, me: (await client.getMe()).data };
  } catch (error) {
    // The client rejects a token with a space before it sends anything.
    if (error instanceof TypeError)
      throw new CrewboardError(0, { code: 'unauthorized', message: 'This is not an access token; copy it again.' });
    throw error;
  }
}

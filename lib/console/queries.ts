import { QueryCache, QueryClient } from '@tanstack/react-query';
import { CrewboardError } from '../client/client.ts';

/**
 * Returns the client of all queries. The first part of a query's key is the noun that events name: `tasks`, `executions`,
 * `agents`, `webhooks` or `events`. `useLive` invalidates queries by it, so data never gets old by time.
 *
 * @param signOut called when the service no longer accepts the token
 */
export function createQueryClient(signOut: (message: string) => void): QueryClient {
  const queries = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof CrewboardError && error.status === 401) signOut(error.message);
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        // The client of the API retries what can be retried.
        retry: false,
        // Without a network, requests fail at once and say so, in place of waiting for one.
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  // What the user has typed cannot be read again.
  queries.setQueryDefaults(['drafts'], { gcTime: Number.POSITIVE_INFINITY });
  return queries;
}

/** The nouns that are the first part of the keys of queries. */
export const nouns = ['tasks', 'executions', 'agents', 'webhooks', 'events'] as const;
export type Noun = (typeof nouns)[number];

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Client } from '../client/client.ts';
import { type Noun, nouns } from './queries.ts';
import { useClient, useScope } from './session.ts';

/** The interval between two requests while the page is visible, in milliseconds. */
const intervalMs = 2_000;

/** The longest interval after failed requests, and that without the scope to read events, in milliseconds. */
const longestIntervalMs = 30_000;
const blindIntervalMs = 10_000;

/** The nouns whose queries an event changes. An event leads to deliveries, which have no events of their own. */
function nounsOf(event: string): readonly Noun[] {
  const family: readonly Noun[] = event.startsWith('task.') ? ['tasks'] : ['executions', 'agents', 'tasks'];
  return [...family, 'webhooks', 'events'];
}

/** The state of the follower: when it last succeeded, and its error. */
export type Live = { updatedAt: number; error: Error | null; retry: () => void };

/** What the follower has read: the newest event, if it has looked at least once. */
type Position = { newest: string | undefined; known: boolean; failures: number };

/**
 * Follows the event log while the page is visible, and invalidates the queries that new events change: one request every
 * two seconds, for all screens together. A token without `webhooks:read` cannot read events; then all queries on the
 * screen are read again every ten seconds.
 */
export function useLive(): Live {
  const client = useClient();
  const canFollow = useScope('webhooks:read');
  const queries = useQueryClient();
  const { current: position } = useRef<Position>({ newest: undefined, known: false, failures: 0 });
  const { dataUpdatedAt, error, refetch } = useQuery({
    queryKey: ['live'],
    queryFn: async ({ signal }) => {
      position.failures++;
      const changed = canFollow ? await readNewEvents(client, position, signal) : nouns;
      position.failures = 0;
      for (const noun of new Set(changed)) void queries.invalidateQueries({ queryKey: [noun] });
      return null;
    },
    refetchInterval: () =>
      Math.min((canFollow ? intervalMs : blindIntervalMs) * 2 ** position.failures, longestIntervalMs),
    refetchOnWindowFocus: 'always',
    gcTime: 0,
  });
  return { updatedAt: dataUpdatedAt, error, retry: () => void refetch() };
}

/** Reads the events after the position, moves it, and returns the nouns that they change. */
async function readNewEvents(client: Client, position: Position, signal: AbortSignal): Promise<readonly Noun[]> {
  const { newest, known } = position;
  const query = newest === undefined ? { limit: 1 } : { after: newest, limit: 100 };
  const { data } = await client.listEvents({ query, signal });
  // Without `after`, the newest event is first; with it, the newest is last.
  position.newest = (newest === undefined ? data[0] : data.at(-1))?.id ?? newest;
  position.known = true;
  return known ? data.flatMap(({ event }) => nounsOf(event)) : [];
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Client } from '../../client/client.ts';
import { type Noun, nouns } from '../queries.ts';
import { useClient, useScope } from '../session.ts';
import { type Position, readAfter, readPosition } from './follow-events.ts';

/** The interval between two requests while the page is visible, in milliseconds. */
const intervalMs = 2_000;

/** The longest interval after failed requests, and that without the scope to read events, in milliseconds. */
const longestIntervalMs = 30_000;
const blindIntervalMs = 10_000;

/** The nouns that an event changes beside webhooks and events, by the first part of its name. */
const changedNouns: Readonly<Record<string, readonly Noun[]>> = {
  task: ['tasks'],
  agent: ['executions', 'agents', 'tasks'],
};

/** The nouns whose queries an event changes. An event leads to deliveries, which have no events of their own. */
function nounsOf(event: string): readonly Noun[] {
  return [...(changedNouns[event.split('.')[0] ?? ''] ?? []), 'webhooks', 'events'];
}

/** The state of the follower: when it last succeeded, and its error. */
export type Live = { updatedAt: number; error: Error | null; retry: () => void };

/** The state between two requests: the position, if there was a successful one, and how many have failed since the last. */
type Follower = { position: Position | undefined; failures: number };

/**
 * Follows the event log while the page is visible, and invalidates the queries that new events change: one request every
 * two seconds, for all screens together. A token without `webhooks:read` cannot read events; then all queries on the
 * screen are read again every ten seconds.
 */
export function useLive(): Live {
  const client = useClient();
  const canFollow = useScope('webhooks:read');
  const queries = useQueryClient();
  const { current: follower } = useRef<Follower>({ position: undefined, failures: 0 });
  const { dataUpdatedAt, error, refetch } = useQuery({
    queryKey: ['live'],
    queryFn: async ({ signal }) => {
      follower.failures++;
      const changed = canFollow ? await readChanges(client, follower, signal) : nouns;
      follower.failures = 0;
      for (const noun of new Set(changed)) void queries.invalidateQueries({ queryKey: [noun] });
      return null;
    },
    refetchInterval: () =>
      Math.min((canFollow ? intervalMs : blindIntervalMs) * 2 ** follower.failures, longestIntervalMs),
    refetchOnWindowFocus: 'always',
    gcTime: 0,
  });
  return { updatedAt: dataUpdatedAt, error, retry: () => void refetch() };
}

/** Moves the follower to the end of the next page, and returns the nouns that the new events of the page change. */
async function readChanges(client: Client, follower: Follower, signal: AbortSignal): Promise<readonly Noun[]> {
  if (!follower.position) {
    follower.position = await readPosition(client, signal);
    return [];
  }
  const { events, after } = await readAfter(client, follower.position, {}, signal);
  follower.position = { ...follower.position, after };
  return events.flatMap(({ event }) => nounsOf(event));
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { type Client, CrewboardError, createClient } from '../../client/client.ts';
import { type Noun, nouns } from '../queries.ts';
import { useScope, useSession } from '../session.ts';
import { type Position, readAfter, readPosition } from './follow-events.ts';
import { outageReason } from './outage-reason.ts';
import { useIsOnline } from './use-is-online.ts';

/** The interval between two requests while the page is visible, in milliseconds. */
const intervalMs = 2_000;

/** The longest interval after failed requests, and that without the scope to read events, in milliseconds. */
const longestIntervalMs = 30_000;
const blindIntervalMs = 10_000;

/** How long a request can take, and the time until a lost one is repeated before anybody is told, in milliseconds. */
const timeoutMs = 10_000;
const secondTryMs = 1_000;

/** The nouns that an event changes beside webhooks and events, by the first part of its name. */
const changedNouns: Readonly<Record<string, readonly Noun[]>> = {
  task: ['tasks'],
  agent: ['executions', 'agents', 'tasks'],
};

/** The nouns whose queries an event changes. An event leads to deliveries, which have no events of their own. */
function nounsOf(event: string): readonly Noun[] {
  return [...(changedNouns[event.split('.')[0] ?? ''] ?? []), 'webhooks', 'events'];
}

/** Why and since when nothing is updated, and when the console tries again. Times are Unix times, in milliseconds. */
export type Outage = { since: number; reason: string; nextAt: number; isTrying: boolean };

/** The state of the follower: when it last succeeded (0 before that), and why it does not any more. */
export type Live = { updatedAt: number; outage: Outage | undefined; retry: () => void };

/** The state between two requests: the position, if there was a successful one, and how many have failed since the last. */
type Follower = { position: Position | undefined; failures: number; startedAt: number };

/**
 * Follows the event log while the page is visible, and invalidates the queries that new events change: one request every
 * two seconds, for all screens together. A token without `webhooks:read` cannot read events; then all queries on the
 * screen are read again every ten seconds. After an outage, what could not be read is read again.
 */
export function useLive(): Live {
  const { token } = useSession();
  // A try of its own for each request: how long the service asks others to wait is no reason to say nothing.
  const client = useMemo(() => createClient({ url: location.origin, token, tries: 1, timeoutMs }), [token]);
  const isOnline = useIsOnline();
  const canFollow = useScope('webhooks:read');
  const queries = useQueryClient();
  const { current: follower } = useRef<Follower>({ position: undefined, failures: 0, startedAt: Date.now() });
  const intervalNow = () =>
    Math.min((canFollow ? intervalMs : blindIntervalMs) * 2 ** follower.failures, longestIntervalMs);
  const { dataUpdatedAt, error, errorUpdatedAt, isFetching, refetch } = useQuery({
    queryKey: ['live'],
    queryFn: async ({ signal }) => {
      const changed = await read(signal);
      for (const noun of new Set(changed)) void queries.invalidateQueries({ queryKey: [noun] });
      return null;
    },
    refetchInterval: intervalNow,
    refetchOnWindowFocus: 'always',
    refetchOnReconnect: 'always',
    retry: (failed, error) => failed === 0 && navigator.onLine && error instanceof CrewboardError && error.status === 0,
    retryDelay: secondTryMs,
    gcTime: 0,
  });

  /** Returns the nouns that have changed. After an outage, also reads what could not be read in it. */
  async function read(signal: AbortSignal): Promise<readonly Noun[]> {
    try {
      // Without events, nobody says that the service can be reached.
      const changed = canFollow
        ? await readChanges(client, follower, signal)
        : await client.getMe({ signal }).then(() => nouns);
      if (follower.failures > 0)
        void queries.invalidateQueries({
          predicate: ({ state, queryKey }) => state.error !== null && queryKey[0] !== 'live',
        });
      follower.failures = 0;
      return changed;
    } catch (error) {
      if (!signal.aborted) follower.failures++;
      throw error;
    }
  }

  const outage = (error || !isOnline) && {
    since: dataUpdatedAt || follower.startedAt,
    reason: outageReason(error, isOnline),
    nextAt: errorUpdatedAt + intervalNow(),
    isTrying: isFetching,
  };
  return { updatedAt: dataUpdatedAt, outage: outage || undefined, retry: () => void refetch() };
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

import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '../../lib/client/operations.ts';
import { nameOf } from '../webhooks/deliveries/check-pipeline.ts';
import { oneOf, type Random } from './random.ts';
import type { ServiceProcess } from './service-process.ts';

/** A follower of the event log: the names of the events that it has seen, by their ids. */
export type Follower = { seen: ReadonlyMap<string, string>; stop: () => Promise<void> };

/** The page sizes that a follower requests at random, and its wait after a page that is not full, in milliseconds. */
const limits = [5, 20, 100] as const;
const everyMs = 500;

/** Follows the event log over HTTP from its beginning, through all interruptions of the service, until it is stopped. */
export function startFollower({ api }: Pick<ServiceProcess, 'api'>, random: Random): Follower {
  const seen = new Map<string, string>();
  const stopping = new AbortController();
  const follow = async () => {
    let after = `ev_${'0'.repeat(26)}`;
    while (!stopping.signal.aborted) {
      const limit = oneOf(random, limits);
      // Without a complete response the same page is requested again.
      const answer = await api()
        .listEvents({ query: `after=${after}&limit=${limit}` })
        .catch(() => undefined);
      if (answer?.status === 200) {
        const { data, pagination } = answer.body as unknown as { data: Event[]; pagination: { next: string } };
        // The ledger has no events about webhooks.
        for (const { id, event, data: changed } of data)
          if (!('webhook' in changed)) seen.set(id, nameOf(event, changed));
        after = pagination.next;
        if (data.length === limit) continue;
      }
      await pause(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const following = follow();
  return {
    seen,
    stop: () => {
      stopping.abort();
      return following;
    },
  };
}

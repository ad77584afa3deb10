import { type Client, CrewboardError } from '../../../lib/client/client.ts';
import type { Event } from '../../../lib/client/operations.ts';
import { timeOf, ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { EventName } from '../../../lib/contract/webhooks/events.ts';
import { CommandFailure } from '../run-program.ts';

/** The events to follow, and what to do while the service does not respond. */
export type Following = {
  /** Returns a client. It is called again after each failed request. */
  connect: () => Pick<Client, 'listEvents'>;
  /** Only events with these names; all if absent. */
  events?: readonly EventName[] | undefined;
  /** Only events of this task. */
  task?: string | undefined;
  /** How far back to begin, in milliseconds; 0 begins with the events after the start. */
  replayMs: number;
  clock: () => number;
  /** Ends the following. */
  signal: AbortSignal;
  /** Waits until the time is over or the signal aborts. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Called when the service has responded for the first time. Without a replay, later events are followed. */
  onReady: () => void;
  /** Called when the connection is lost, and when there is one again. */
  onLost: (error: Error) => void;
  onFound: () => void;
};

/** The wait before the next request if the last one had no event, in milliseconds. */
const pollMs = 1_000;

/** The first and the longest wait after a failed request, in milliseconds. */
const waits = { first: 500, longest: 10_000 } as const;

/** The size of a page: the maximum of the API. */
const pageSize = 100;

/** How far before the newest event a new follower begins: events of the same moment may not be published yet. In ms. */
const beginsBeforeMs = 2_000;

/** How many ids are remembered, so that no event is yielded twice. */
const knownIds = 10_000;

/**
 * Yields the events of the log from now on, or from a time on, each once, until the signal aborts. If the connection is
 * lost, it continues without a gap when the service responds again.
 *
 * @throws the error of the first request; later only errors that another request does not avoid, such as a revoked token
 */
export async function* followByRequests(following: Following): AsyncGenerator<Event> {
  const { events, task, signal, wait } = following;
  const read = createReader(following);
  const known = new Set<string>();
  let after = await begin(following, read, known);
  // The API has a filter for one name.
  const query = { limit: pageSize, task_id: task, event: events?.length === 1 ? events[0] : undefined };
  while (after !== undefined) {
    const page = await read({ ...query, after });
    if (!page) return;
    for (const event of page.data) {
      if (signal.aborted) return;
      if (known.has(event.id) || (events && !events.includes(event.event))) continue;
      yield event;
      remember(known, event.id);
    }
    // Only now: if the process ended before, these events were not lost.
    after = page.pagination.next ?? after;
    if (page.data.length === 0) await wait(pollMs, signal);
  }
}

type Query = NonNullable<Parameters<Client['listEvents']>[0]>['query'];
type Page = Awaited<ReturnType<Client['listEvents']>>;

/** Reads a page; `undefined` if the signal has aborted. */
type Reader = (query: Query) => Promise<Page | undefined>;

/** Creates a reader that tries again until the service responds, unless it has never responded. */
function createReader({ connect, signal, wait, onReady, onLost, onFound }: Following): Reader {
  let client = connect();
  let hasResponded = false;
  return async (query) => {
    for (let failures = 0; ; failures++) {
      if (signal.aborted) return undefined;
      try {
        const page = await client.listEvents({ query, signal });
        if (!hasResponded) onReady();
        hasResponded = true;
        if (failures > 0) onFound();
        return page;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!hasResponded || !isTemporary(error)) throw error;
        if (failures === 0) onLost(error);
        await wait(Math.min(waits.first * 2 ** failures, waits.longest) * (0.75 + Math.random() / 2), signal);
        client = connect();
      }
    }
  };
}

/** Returns whether another request may succeed. A `CommandFailure` says that the service cannot be reached. */
function isTemporary(error: unknown): error is Error {
  if (!(error instanceof CrewboardError)) return error instanceof CommandFailure;
  return error.status === 0 || error.status === 429 || error.status >= 500 || error.code === 'not_an_answer';
}

/**
 * Returns the position to begin after; `undefined` if the signal has aborted. Without a replay it is just before the newest
 * event, by the clock of the service, and the existing events become known.
 */
async function begin({ replayMs, clock }: Following, read: Reader, known: Set<string>): Promise<string | undefined> {
  const positionAt = (time: number) => `ev_${ulidFrom(Math.max(time, 0), new Uint8Array(10))}`;
  if (replayMs > 0) return positionAt(clock() - replayMs);
  const newest = await read({ limit: pageSize });
  if (!newest) return undefined;
  for (const { id } of newest.data) known.add(id);
  const [first] = newest.data;
  return positionAt(first ? timeOf(ulidOf(first.id)) - beginsBeforeMs : 0);
}

function remember(known: Set<string>, id: string): void {
  known.add(id);
  if (known.size <= knownIds) return;
  const [oldest] = known;
  known.delete(oldest as string);
}

import { atMost } from '../../at-most.ts';

/** The number of items that are worked on at the same time, each with one request after another. */
export const atOnce = 6;

/** How often an item is tried that the service answers with a time to wait. */
const mostTries = 4;

/** When requests may be sent. All items share it: if the service asks one to wait, all wait. */
export type Gate = {
  /** The Unix time from which on requests may be sent, in milliseconds. */
  opensAt: number;
  now: () => number;
  /** Ends early when the signal aborts. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Aborts when the user stops. */
  stopped: AbortSignal;
};

/** Waits until requests may be sent. Throws the reason of `stopped` when the user stops. */
export async function waitFor(gate: Gate): Promise<void> {
  gate.stopped.throwIfAborted();
  while (gate.opensAt > gate.now()) {
    await gate.sleep(gate.opensAt - gate.now(), gate.stopped);
    gate.stopped.throwIfAborted();
  }
}

/** Lets all items wait for a time, in milliseconds. A longer time that another item has asked for stays. */
export async function closeFor(gate: Gate, milliseconds: number): Promise<void> {
  gate.opensAt = Math.max(gate.opensAt, gate.now() + milliseconds);
  await waitFor(gate);
}

/** What has become of the items. Those that are not started, or that waited when the user stopped, are `left`. */
export type Outcome<Item> = {
  done: readonly Item[];
  failed: readonly { item: Item; error: unknown }[];
  left: readonly Item[];
};

type Work<Item> = {
  /** Does what is to be done with an item. It can be repeated, and calls `waitFor` between its requests. */
  act: (item: Item) => Promise<void>;
  /** Returns the time that the service asks to wait before another try, in milliseconds; `undefined` if there is to be none. */
  retryAfterMs: (error: unknown) => number | undefined;
  /** Called when an item is done or has failed. */
  onEnd: (item: Item, error?: unknown) => void;
};

/** Works on many items, a few at a time, until all have ended or the user stops. Items that were begun are ended before. */
export async function runMany<Item>(gate: Gate, items: readonly Item[], work: Work<Item>): Promise<Outcome<Item>> {
  const done: Item[] = [];
  const failed: { item: Item; error: unknown }[] = [];
  const left: Item[] = [];

  async function end(item: Item): Promise<void> {
    try {
      await waitFor(gate);
      await tryItem(gate, item, work);
      done.push(item);
      work.onEnd(item);
    } catch (error) {
      if (gate.stopped.aborted && error === gate.stopped.reason) {
        left.push(item);
      } else {
        failed.push({ item, error });
        work.onEnd(item, error);
      }
    }
  }

  const inTurn = atMost(atOnce);
  await Promise.all(items.map((item) => inTurn(() => end(item))));
  return { done, failed, left };
}

/** Tries an item until it does not fail, or the service does not ask to wait any more. */
async function tryItem<Item>(gate: Gate, item: Item, { act, retryAfterMs }: Work<Item>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await act(item);
    } catch (error) {
      const milliseconds = retryAfterMs(error);
      if (milliseconds === undefined || tries === mostTries) throw error;
      // The first try may have changed something, so its error says more than that the user has stopped.
      await closeFor(gate, milliseconds).catch(() => Promise.reject(error));
    }
  }
}

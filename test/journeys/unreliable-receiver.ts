import { type Receiver, startReceiver } from '../sender/receiver.ts';

/** A receiver that responds 500 while it is down. At the start it is down. */
export type UnreliableReceiver = Receiver & {
  state: { isDown: boolean };
  /** Returns the titles of the tasks of the requests that have arrived since some number of them, in this order. */
  titlesAfter: (count: number) => string[];
};

/** Starts a receiver that responds 500 while it is down. */
export async function startUnreliable(): Promise<UnreliableReceiver> {
  const state = { isDown: true };
  const receiver = await startReceiver((response) => response.writeHead(state.isDown ? 500 : 204).end());
  const titlesAfter = (count: number) =>
    receiver.received.slice(count).map(({ body }) => body.data.task.title as string);
  return { ...receiver, state, titlesAfter };
}

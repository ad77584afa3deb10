/**
 * Delivers the responses of requests in rounds: none before all requests in flight have theirs and no further request
 * starts. So the number of rounds is that of requests that need the response of another, whatever the engine's times are.
 *
 * @param ended is called at the end of each round, before its responses are delivered
 * @returns a function to call when a request starts. It returns one that waits, after the response, for the end of the round
 */
export function startRounds(ended: () => void): () => () => Promise<void> {
  let inFlight = 0;
  let held: (() => void)[] = [];
  const deliverIfComplete = () => {
    if (held.length === 0 || held.length < inFlight) return;
    const responses = held;
    [inFlight, held] = [0, []];
    ended();
    for (const deliver of responses) deliver();
  };
  return () => {
    inFlight += 1;
    return () =>
      new Promise((resolve) => {
        held.push(resolve);
        // Batches are sent in the turn of the event loop after the one that collects them.
        setImmediate(() => setImmediate(deliverIfComplete));
      });
  };
}

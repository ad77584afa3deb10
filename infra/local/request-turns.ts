/** How many requests begin in one turn of the event loop. */
export const requestsInTurn = 4;

/** Waits for the turn in which a request may begin. Requests begin in their order. */
export type RequestTurns = () => Promise<void>;

/**
 * Creates the turns of requests: at most `most` begin in one turn of the event loop, so that the publishing of events and
 * their deliveries go on in between. A delivery takes about eight turns. If all waiting requests began at once, each turn
 * would take the time of all of them, and with many callers deliveries would fall behind without a limit, while requests are
 * answered. A turn without other work takes no time, so that requests wait for each other only.
 *
 * @param planTurn calls a function in the next turn
 */
export function createRequestTurns(
  most = requestsInTurn,
  planTurn: (begin: () => void) => void = setImmediate,
): RequestTurns {
  const waiting: (() => void)[] = [];
  let begun = 0;

  function nextTurn(): void {
    const begins = waiting.splice(0, most);
    begun = begins.length;
    if (begun > 0) planTurn(nextTurn);
    for (const begin of begins) begin();
  }

  return () => {
    if (begun === 0) planTurn(nextTurn);
    if (begun === most) return new Promise((resolve) => waiting.push(resolve));
    begun += 1;
    return Promise.resolve();
  };
}

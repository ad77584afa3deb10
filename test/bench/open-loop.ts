import { setTimeout as pause } from 'node:timers/promises';

/**
 * Sends on a schedule without waiting for responses, so that slow responses do not slow the load down. Resolves once all
 * responses have come.
 *
 * @throws the error of the first `send` that failed
 */
export async function sendOpenLoop(perSecond: number, count: number, send: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  const answers: Promise<unknown>[] = [];
  for (let nth = 0; nth < count; nth++) {
    const early = startedAt + (nth * 1000) / perSecond - performance.now();
    if (early > 0) await pause(early);
    const answer = send();
    // Thrown at the end; until then it must not count as unhandled.
    answer.catch(() => {});
    answers.push(answer);
  }
  await Promise.all(answers);
}

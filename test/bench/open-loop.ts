import { setTimeout as pause } from 'node:timers/promises';

/** How sending went: how many were sent, how many of them late, and the latest by how many ms. */
export type Sent = { count: number; late: number; latestMs: number };

/** What is sent by so much after its time is late: the machine has no time left for what sends. */
export const lateMs = 20;

/**
 * Sends on a schedule, whether or not what was sent before has been answered, so that a slow answer cannot hide by
 * slowing the load down. Resolves once all is answered.
 *
 * @throws what the first `send` that failed says
 */
export async function sendOpenLoop(perSecond: number, count: number, send: () => Promise<unknown>): Promise<Sent> {
  const startedAt = performance.now();
  const answers: Promise<unknown>[] = [];
  const delays: number[] = [];
  for (let nth = 0; nth < count; nth++) {
    const due = startedAt + (nth * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await pause(early);
    delays.push(performance.now() - due);
    const answer = send();
    // Told at the end; until then it must not count as unhandled.
    answer.catch(() => {});
    answers.push(answer);
  }
  await Promise.all(answers);
  return { count, late: delays.filter((delay) => delay > lateMs).length, latestMs: Math.max(...delays) };
}

import { pollingOf, slowAttemptsOf } from '../contract/polling.ts';

/**
 * How many attempts of one webhook run at the same time in a container: half of a batch. The others of its batch wait for
 * them, so that many events at once for a quick receiver stay prompt.
 */
const attemptsAtOnce = 5;

/** The attempts of one webhook: those that run, and those that wait to. */
type Attempts = { running: number; slow: boolean; waiting: ((starts: boolean) => void)[] };

/** Creates the limit of the concurrent attempts of each webhook in this process; see `attemptsAtOnce`. */
export function createAttemptLimit() {
  const attempts = new Map<string, Attempts>();

  return {
    /** Returns once an attempt may run, which calls `end` then; or `false` if an attempt that runs has shown to be slow. */
    async start(webhookId: string): Promise<boolean> {
      const of = attempts.get(webhookId) ?? { running: 0, slow: false, waiting: [] };
      attempts.set(webhookId, of);
      if (of.slow) return false;
      if (of.running >= attemptsAtOnce) return new Promise((resolve) => of.waiting.push(resolve));
      of.running += 1;
      return true;
    },

    /** Says that an attempt runs no more: the next one that waits runs in its place. */
    end(webhookId: string): void {
      const of = attempts.get(webhookId);
      if (!of) return;
      const next = of.waiting.shift();
      if (next) next(true);
      else of.running -= 1;
      if (of.running === 0) attempts.delete(webhookId);
    },

    /** Says that an attempt that runs is slow: until the last of them ends no other starts. */
    slow(webhookId: string): void {
      const of = attempts.get(webhookId);
      if (!of) return;
      of.slow = true;
      for (const refuse of of.waiting.splice(0)) refuse(false);
    },
  };
}

/**
 * Reads `SLOW_ATTEMPTS`: how many attempts of one slow webhook may run at the same time, a whole number from 1; that of
 * the usual quota where it is not set.
 *
 * @throws Error for anything else
 */
export function readSlowAttempts(text: string | undefined): number {
  if (text === undefined) return slowAttemptsOf(pollingOf());
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`SLOW_ATTEMPTS is ${JSON.stringify(text)}; write a whole number from 1 to 9999.`);
  return Number(text);
}

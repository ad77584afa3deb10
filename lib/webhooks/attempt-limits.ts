import { environment } from '../deployment/environment.ts';
import { pollingOf, slowAttemptsOf } from '../deployment/polling.ts';

/** The attempts of one webhook: those that run, and those that wait to. */
type Attempts = { running: number; slow: boolean; waiting: ((starts: boolean) => void)[] };

/**
 * Creates the limit of the concurrent attempts of each webhook in this process. Those above it wait for the others, so that
 * many events at once for a quick receiver stay prompt.
 *
 * @param most how many attempts of one webhook may run at the same time
 */
export function createAttemptLimit(most: number) {
  const attempts = new Map<string, Attempts>();

  return {
    /** Returns once an attempt may run, which calls `end` then; or `false` if an attempt that runs has shown to be slow. */
    async start(webhookId: string): Promise<boolean> {
      const of = attempts.get(webhookId) ?? { running: 0, slow: false, waiting: [] };
      attempts.set(webhookId, of);
      if (of.slow) return false;
      if (of.running >= most) return new Promise((resolve) => of.waiting.push(resolve));
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

/** The limits of the concurrent attempts of one webhook. */
export type AttemptLimits = {
  /** In one container, while the webhook is not known to be slow. */
  prompt: number;
  /** In all containers together, from the queue of slow webhooks. */
  slow: number;
};

/**
 * Reads `PROMPT_ATTEMPTS` and `SLOW_ATTEMPTS`, whole numbers from 1. Where they are not set, they are half of a batch and
 * half of the calls of the slow queue at the usual quota.
 *
 * @throws Error for anything else
 */
export function readAttemptLimits(variables: Readonly<Record<string, string | undefined>>): AttemptLimits {
  const polling = pollingOf();
  return {
    prompt: readLimit(variables, environment.promptAttempts, Math.floor(polling.deliveries.batchSize / 2)),
    slow: readLimit(variables, environment.slowAttempts, slowAttemptsOf(polling)),
  };
}

function readLimit(variables: Readonly<Record<string, string | undefined>>, name: string, usual: number): number {
  const text = variables[name] || String(usual);
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`${name} is ${JSON.stringify(text)}; write a whole number from 1 to 9999.`);
  return Number(text);
}

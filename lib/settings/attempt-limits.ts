import { environment } from '../names/environment.ts';
import { pollingOf, slowAttemptsOf } from './polling.ts';

/** The limits of the concurrent attempts of one webhook. */
export type AttemptLimits = {
  /** In one process, while the webhook is not known to be slow. */
  normal: number;
  /** In all processes together, from the queue of slow webhooks. */
  slow: number;
};

/**
 * Reads the limits of normal and of slow webhooks from `PROMPT_ATTEMPTS` and `SLOW_ATTEMPTS`, whole numbers from 1. Their
 * defaults are half of a batch, and half of the calls of the slow queue at the usual quota.
 *
 * @throws Error for other values
 */
export function readAttemptLimits(variables: Readonly<Record<string, string | undefined>>): AttemptLimits {
  const polling = pollingOf();
  return {
    normal: readLimit(variables, environment.normalAttempts, Math.floor(polling.deliveries.batchSize / 2)),
    slow: readLimit(variables, environment.slowAttempts, slowAttemptsOf(polling)),
  };
}

function readLimit(variables: Readonly<Record<string, string | undefined>>, name: string, usual: number): number {
  const text = variables[name] || String(usual);
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`${name} is ${JSON.stringify(text)}; write a whole number from 1 to 9999.`);
  return Number(text);
}

import { setTimeout } from 'node:timers/promises';

/** Waits, or until the signal aborts, whichever is first. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}

import { setTimeout as pause } from 'node:timers/promises';
import { type Checked, check } from './check.ts';
import { dueIn, gather, type Sources } from './evidence.ts';

/** The longest wait until nothing is due, in milliseconds, and a function that gets the progress. */
export type Patience = { restWithinMs: number; say: (line: string) => void };

const everyMs = 2_000;

/** Checks once nothing is due any more, and again while there are faults, until the time is up. */
export async function checkAtRest(sources: Sources, { restWithinMs, say }: Patience): Promise<Checked> {
  const deadline = Date.now() + restWithinMs;
  let said = '';
  for (;;) {
    const late = Date.now() > deadline;
    const due = await dueIn(sources.table);
    let waiting = `${due.length} deliveries and executions`;
    if (due.length === 0 || late) {
      const counted = check(await gather(sources));
      if (counted.lost.length === 0 || late) return counted;
      waiting = `${counted.lost.length} things, such as: ${counted.lost[0]}`;
    }
    if (waiting !== said) say(`waiting for ${waiting}`);
    said = waiting;
    await pause(everyMs);
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { dueIn, gather, type Sources } from './evidence.ts';
import { type Recount, recount } from './recount.ts';

/** How long a soak waits for rest, and who is told what it waits for. */
export type Patience = { restWithinMs: number; say: (line: string) => void };

const everyMs = 2_000;

/** Recounts once nothing is due any more, and again while something is missing; at the latest when the time is up. */
export async function recountAtRest(sources: Sources, { restWithinMs, say }: Patience): Promise<Recount> {
  const deadline = Date.now() + restWithinMs;
  let said = '';
  for (;;) {
    const late = Date.now() > deadline;
    const due = await dueIn(sources.table);
    let waiting = `${due.length} deliveries and executions`;
    if (due.length === 0 || late) {
      const counted = recount(await gather(sources));
      if (counted.lost.length === 0 || late) return counted;
      waiting = `${counted.lost.length} things, such as: ${counted.lost[0]}`;
    }
    if (waiting !== said) say(`waiting for ${waiting}`);
    said = waiting;
    await pause(everyMs);
  }
}

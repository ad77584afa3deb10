import { AsyncLocalStorage } from 'node:async_hooks';
import type { Model } from '../../../lib/model/converse.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type Ended, type KillableWorker, runKillable } from '../../killable.ts';
import { interceptTable } from '../../table/intercepted-table.ts';

/** A worker: how many more half steps it takes before it dies. */
type Worker = KillableWorker & { left: number };

/** A call that never answers. */
const never = new Promise<never>(() => {});

/**
 * Workers that die at a step. A step is a request to the table or a question to a model, and has two halves: a worker
 * dies before it is carried out, or once it is and before it hears of it. A dead one goes no further in any branch.
 */
export function openMortals() {
  const workers = new AsyncLocalStorage<Worker>();

  /** One half of a step: whether the worker is still there behind it. */
  function lives(worker: Worker | undefined): boolean {
    if (!worker) return true;
    if (!worker.dead && worker.left-- === 0) worker.die();
    return !worker.dead;
  }

  async function step<Answer>(really: () => Promise<Answer>): Promise<Answer> {
    const worker = workers.getStore();
    if (!lives(worker)) return never;
    const answer = await really();
    return lives(worker) ? answer : never;
  }

  return {
    /** What mortals see of a table, and of a model. */
    table: (table: Table): Table => interceptTable(table, step),
    model:
      (model: Model): Model =>
      (question) =>
        step(() => model(question)),

    /** Runs a worker that dies after so many half steps, if it comes so far. */
    run(work: () => Promise<unknown>, left = Number.POSITIVE_INFINITY): Promise<Ended> {
      return runKillable((mortal) => workers.run(Object.assign(mortal, { left }), work));
    },
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Model } from '../../../lib/model/converse.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type Ended, type KillableWorker, runKillable } from '../../killable.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';

/** A worker, with the number of half steps after which it is killed. */
type Worker = KillableWorker & { left: number };

/** The result of a call by a killed worker. */
const never = new Promise<never>(() => {});

/**
 * Creates workers that are killed at a step. A step is a request to the table or a call of a model, and has two halves: a
 * worker is killed before the step, or between the step and its result. A killed worker continues in no branch.
 */
export function createKillableWorkers() {
  const workers = new AsyncLocalStorage<Worker>();

  /** Counts one half of a step; returns whether the worker is alive afterwards. */
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
    /** Wraps the table, and the model, of the workers. */
    table: (table: Table): Table => interceptTable(table, step),
    model:
      (model: Model): Model =>
      (question) =>
        step(() => model(question)),

    /** Runs a worker that is killed after `left` half steps. */
    run(work: () => Promise<unknown>, left = Number.POSITIVE_INFINITY): Promise<Ended> {
      return runKillable((mortal) => workers.run(Object.assign(mortal, { left }), work));
    },
  };
}

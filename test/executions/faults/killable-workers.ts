import { AsyncLocalStorage } from 'node:async_hooks';
import type { Model } from '../../../lib/model/converse.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type Ended, type KillableWorker, runKillable } from '../../killable.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';

/**
 * Creates workers that are killed at a step. A step is a request to the table or a call of a model, and has two halves: a
 * worker is killed before the step, or between the step and its result. A killed worker continues in no branch.
 */
export function createKillableWorkers() {
  /** The current worker, with the number of half steps after which it is killed. */
  const workers = new AsyncLocalStorage<KillableWorker & { left: number }>();
  const never = new Promise<never>(() => {});

  /** Counts one half of a step; returns whether the worker is alive afterwards. */
  function isAlive(): boolean {
    const worker = workers.getStore();
    if (worker && !worker.dead && worker.left-- === 0) worker.die();
    return !worker?.dead;
  }

  async function step<Result>(run: () => Promise<Result>): Promise<Result> {
    if (!isAlive()) return never;
    const result = await run();
    return isAlive() ? result : never;
  }

  return {
    /** Wraps the table of the workers. */
    table: (table: Table): Table => interceptTable(table, step),
    /** Wraps the model of the workers. */
    model:
      (model: Model): Model =>
      (question) =>
        step(() => model(question)),
    /** Runs a worker that is killed after `left` half steps. */
    run: (work: () => Promise<unknown>, left = Number.POSITIVE_INFINITY): Promise<Ended> =>
      runKillable((worker) => workers.run(Object.assign(worker, { left }), work)),
  };
}

import { appOf } from './base.ts';
import { deliveriesApp } from './deliveries.ts';
import { purgesApp } from './purges.ts';
import { queueOf } from './queues.ts';
import { runsApp } from './runs.ts';

/** The app of functions that look after everything that is under way: all that the table's changes can set off. */
export const pipelineApp = appOf((base) => ({
  ...deliveriesApp(base),
  ...runsApp(base),
  ...purgesApp(base),
  /** Where what can never be handled waits for an operator. */
  deadChanges: queueOf<unknown>(base, 'deadChanges'),
}));

import { openRuns } from '../agents/runs.ts';
import { openTaskStore } from '../table/tasks.ts';
import { appOf } from './base.ts';
import { pause } from './pause.ts';
import { agentStoreOf, executionStoreOf } from './stores.ts';

/** The app of functions that carry executions out. */
export const runsApp = appOf((base) => {
  const [store, agents, tasks] = [executionStoreOf(base), agentStoreOf(base), openTaskStore(base.table)];
  return { runs: openRuns({ store, agents, tasks, clock: base.clock, pause }) };
});

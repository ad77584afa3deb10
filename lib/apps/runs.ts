import { environment } from '../deployment/environment.ts';
import { openRuns, readWaitingLimit } from '../executions/runs.ts';
import { openRunWakeUps } from '../executions/wake-ups.ts';
import { openOverdueExecutions } from '../table/executions.ts';
import { appOf } from './base.ts';
import { pause } from './pause.ts';
import { queueOf } from './queues.ts';
import { executionStoreOf } from './stores.ts';

/** The app of functions that carry executions out. */
export const runsApp = appOf((base) => {
  const store = executionStoreOf(base);
  const { clock, variables } = base;
  const waitingLimitMs = readWaitingLimit(variables[environment.waitingLimit] || undefined);
  const { wake } = openRunWakeUps({
    store: openOverdueExecutions(base.table),
    queue: queueOf(base, 'executions'),
    clock,
  });
  return { runs: openRuns({ store, context: base, wake, waitingLimitMs, clock, pause }) };
});

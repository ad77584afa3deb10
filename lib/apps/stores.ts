import type { Context } from '../context.ts';
import { environment } from '../deployment/environment.ts';
import { readRunningCap } from '../executions/executions.ts';
import { openExecutionStore } from '../table/executions.ts';

/** The executions of a deployment, as many at once and in a minute as it allows. */
export function executionStoreOf({ table, variables, limits }: Context) {
  const cap = readRunningCap(variables[environment.runningCap] || undefined);
  return openExecutionStore(table, cap, limits.executionsPerMinute);
}

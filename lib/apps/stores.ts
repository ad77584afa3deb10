import type { Context } from '../context.ts';
import { readAllowedModels, standardModel } from '../contract/models.ts';
import { environment } from '../deployment/environment.ts';
import { readRunningCap } from '../executions/executions.ts';
import { openAgentStore } from '../table/agents.ts';
import { openExecutionStore } from '../table/executions.ts';

/** The model of agents that name none. */
export function defaultModelOf({ variables }: Context): string {
  return variables[environment.defaultModel] || standardModel;
}

/** The models that agents may name; `undefined` where every model is allowed. */
export function allowedModelsOf({ variables }: Context): readonly string[] | undefined {
  return readAllowedModels(variables[environment.allowedModels]);
}

/** The agents of a deployment. */
export function agentStoreOf(base: Context) {
  return openAgentStore(base.table, defaultModelOf(base));
}

/** The executions of a deployment, as many at once and in a minute as it allows. */
export function executionStoreOf({ table, variables, limits }: Context) {
  const cap = readRunningCap(variables[environment.runningCap] || undefined);
  return openExecutionStore(table, cap, limits.executionsPerMinute);
}

import { readRunningCap } from '../agents/executions.ts';
import { environment, standardModel } from '../contract/deployment.ts';
import { openAgentStore } from '../table/agents.ts';
import { openExecutionStore } from '../table/executions.ts';
import type { Base } from './base.ts';

/** The model of agents that name none. */
export function defaultModelOf({ variables }: Base): string {
  return variables[environment.defaultModel] || standardModel;
}

/** The agents of a deployment. */
export function agentStoreOf(base: Base) {
  return openAgentStore(base.table, defaultModelOf(base));
}

/** The executions of a deployment, as many at once as it allows. */
export function executionStoreOf({ table, variables }: Base) {
  return openExecutionStore(table, readRunningCap(variables[environment.runningCap] || undefined));
}

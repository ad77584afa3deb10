import { openDelegations } from '../executions/delegations.ts';
import { openExecutions } from '../executions/executions.ts';
import { appOf } from './base.ts';
import { executionStoreOf } from './stores.ts';

/** The app of functions that start executions and show them. */
export const executionsApp = appOf((base) => {
  const { ulid, clock } = base;
  const parts = { store: executionStoreOf(base), context: base, ulid, clock };
  return { executions: openExecutions(parts), delegations: openDelegations(parts) };
});

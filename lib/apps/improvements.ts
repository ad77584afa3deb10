import { openImprovements } from '../improvements/improvements.ts';
import { openImprovementStore } from '../table/improvements.ts';
import { appOf } from './base.ts';
import { pause } from './pause.ts';
import { executionStoreOf } from './stores.ts';

/** The app of the function that improves agents. */
export const improvementsApp = appOf((base) => {
  const { table, clock } = base;
  const store = openImprovementStore(table, clock);
  const parts = { store, context: base, executions: executionStoreOf(base), clock, pause };
  return { improvements: openImprovements(parts) };
});

import { openPurges } from '../executions/purges.ts';
import { openPurgeStore } from '../table/purges.ts';
import { appOf } from './base.ts';

/** The app of functions that clear away what deleted agents and tasks leave behind. */
export const purgesApp = appOf((base) => ({
  purges: openPurges({ store: openPurgeStore(base.table), clock: base.clock }),
}));

import { openPurges } from '../agents/purges.ts';
import { openPurgeStore } from '../table/purges.ts';
import { appOf } from './base.ts';
import { queueOf } from './queues.ts';

/** The app of functions that clear away what deleted agents leave behind. */
export const purgesApp = appOf((base) => ({
  purges: openPurges({ store: openPurgeStore(base.table), queue: queueOf(base, 'purges'), clock: base.clock }),
}));

import { runDuePurges } from '../../lib/executions/purges.ts';
import { scheduled } from '../../lib/workers/scheduled.ts';

export const handler = scheduled({ purges: (call, context) => runDuePurges(context, call) });

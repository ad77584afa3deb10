import { getRecovery as row } from '../../lib/contract/recoveries.ts';
import { serve } from '../../lib/http/serve.ts';
import { getRecovery } from '../../lib/webhooks/recoveries/recovery.ts';

export const handler = serve(row, async ({ params, caller }, context) =>
  getRecovery(context, caller.organization, params.id, params.recoveryId),
);

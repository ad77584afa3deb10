import { cancelRecovery as row } from '../../lib/contract/webhooks/recoveries.ts';
import { serve } from '../../lib/http/serve.ts';
import { cancelRecovery } from '../../lib/webhooks/recoveries/recovery.ts';

export const handler = serve(row, async ({ params, caller, recordResponse }, context) =>
  cancelRecovery(context, caller.organization, params.id, params.recoveryId, recordResponse),
);

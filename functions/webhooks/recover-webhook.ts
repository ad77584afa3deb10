import { recoverWebhook as row } from '../../lib/contract/webhooks/recoveries.ts';
import { serve } from '../../lib/http/serve.ts';
import { recoverWebhook } from '../../lib/webhooks/recoveries/recovery.ts';

export const handler = serve(row, async ({ params, body, caller, recordResponse }, context) =>
  recoverWebhook(context, caller.organization, params.id, body, recordResponse),
);

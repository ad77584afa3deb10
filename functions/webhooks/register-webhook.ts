import { registerWebhook as row } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { registerWebhook } from '../../lib/webhooks/registration.ts';

export const handler = serve(row, async ({ body, caller, recordResponse }, context) =>
  registerWebhook(context, caller.organization, body, recordResponse),
);

import { registerWebhook as row } from '../../lib/contract/webhooks/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { withStartCheck } from '../../lib/names/start-check.ts';
import { checkEncryption } from '../../lib/webhooks/check-secrets.ts';
import { registerWebhook } from '../../lib/webhooks/registration.ts';

export const handler = withStartCheck(
  serve(row, async ({ body, caller, recordResponse }, context) =>
    registerWebhook(context, caller.organization, body, recordResponse),
  ),
  checkEncryption,
);

import { registerWebhook as row } from '../../lib/contract/webhooks.ts';
import { withStartCheck } from '../../lib/deployment/start-check.ts';
import { serve } from '../../lib/http/serve.ts';
import { checkEncryption } from '../../lib/webhooks/check-secrets.ts';
import { registerWebhook } from '../../lib/webhooks/registration.ts';

export const handler = withStartCheck(
  serve(row, async ({ body, caller, recordResponse }, context) =>
    registerWebhook(context, caller.organization, body, recordResponse),
  ),
  checkEncryption,
);

import { testWebhook as row } from '../../lib/contract/webhooks/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { withStartCheck } from '../../lib/names/start-check.ts';
import { checkDecryption } from '../../lib/webhooks/check-secrets.ts';
import { testWebhook } from '../../lib/webhooks/test-delivery.ts';

export const handler = withStartCheck(
  serve(row, async ({ params, body, caller, recordResponse }, context) =>
    testWebhook(context, caller.organization, { webhookId: params.id, event: body.event }, recordResponse),
  ),
  checkDecryption,
);

import { rotateWebhookSecret as row } from '../../lib/contract/webhooks/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { withStartCheck } from '../../lib/names/start-check.ts';
import { checkEncryption } from '../../lib/webhooks/check-secrets.ts';
import { rotateWebhookSecret } from '../../lib/webhooks/secret-rotation.ts';

export const handler = withStartCheck(
  serve(row, async ({ params, body, caller, recordResponse }, context) =>
    rotateWebhookSecret(context, caller.organization, { ...body, id: params.id }, recordResponse),
  ),
  checkEncryption,
);

import { rotateWebhookSecret as row } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { rotateWebhookSecret } from '../../lib/webhooks/secret-rotation.ts';

export const handler = serve(row, async ({ params, body, caller, recordResponse }, context) =>
  rotateWebhookSecret(context, caller.organization, { ...body, id: params.id }, recordResponse),
);

import { keyedBase } from '../../lib/apps/keyed-base.ts';
import { testWebhook as row } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { allowedReceiversOf } from '../../lib/webhooks/receivers.ts';
import { openSender } from '../../lib/webhooks/sender.ts';
import { testWebhook } from '../../lib/webhooks/test-delivery.ts';

export const handler = serve(
  row,
  async ({ params, body, caller, recordResponse }, context) => {
    const send = openSender(allowedReceiversOf(context));
    return testWebhook(context, caller.organization, { webhookId: params.id, event: body.event }, send, recordResponse);
  },
  keyedBase,
);

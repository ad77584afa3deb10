import { getEvent as row } from '../../lib/contract/event-log.ts';
import { serve } from '../../lib/http/serve.ts';
import { getEvent } from '../../lib/webhooks/events.ts';

export const handler = serve(row, async ({ params, caller }, context) =>
  getEvent(context, caller.organization, params.id),
);

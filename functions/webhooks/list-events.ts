import { listEvents as row } from '../../lib/contract/event-log.ts';
import { serve } from '../../lib/http/serve.ts';
import { listEvents } from '../../lib/webhooks/events.ts';

export const handler = serve(row, async ({ query, caller }, context) =>
  listEvents(context, caller.organization, query),
);

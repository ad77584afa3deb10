import * as rows from '../../lib/contract/webhooks/event-log.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';
import { getEvent, listEvents } from '../../lib/webhooks/events.ts';

const list = serve(rows.listEvents, async ({ query, caller }, context) =>
  listEvents(context, caller.organization, query),
);

const get = serve(rows.getEvent, async ({ params, caller }, context) =>
  getEvent(context, caller.organization, params.id),
);

export const handler = byRoute([rows.listEvents, list], [rows.getEvent, get]);

import * as rows from '../../lib/contract/webhooks/recoveries.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';
import { getRecovery, listRecoveries } from '../../lib/webhooks/recoveries/recovery.ts';

const get = serve(rows.getRecovery, async ({ params, caller }, context) =>
  getRecovery(context, caller.organization, params.id, params.recoveryId),
);

const list = serve(rows.listRecoveries, async ({ params, query, caller }, context) =>
  listRecoveries(context, caller.organization, params.id, query),
);

export const handler = byRoute([rows.getRecovery, get], [rows.listRecoveries, list]);

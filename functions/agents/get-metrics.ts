import { getMetrics } from '../../lib/agents/metrics.ts';
import { getMetrics as row } from '../../lib/contract/agent-metrics.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, query, caller }, context) =>
  getMetrics(context, caller.organization, params.name, query),
);

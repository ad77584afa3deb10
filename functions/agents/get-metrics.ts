import { getExecutionMetrics, getMetrics } from '../../lib/agents/metrics.ts';
import * as rows from '../../lib/contract/agents/agent-metrics.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';

const ofAgent = serve(rows.getMetrics, async ({ params, query, caller }, context) =>
  getMetrics(context, caller.organization, params.name, query),
);

const ofAllExecutions = serve(rows.getExecutionMetrics, async ({ query, caller }, context) =>
  getExecutionMetrics(context, caller.organization, query),
);

export const handler = byRoute([rows.getMetrics, ofAgent], [rows.getExecutionMetrics, ofAllExecutions]);

import { getExecutionMetrics } from '../../lib/agents/metrics.ts';
import { getExecutionMetrics as row } from '../../lib/contract/agent-metrics.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ query, caller }, context) =>
  getExecutionMetrics(context, caller.organization, query),
);

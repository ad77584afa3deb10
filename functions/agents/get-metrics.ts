import { metricsApp } from '../../lib/apps/metrics.ts';
import { getMetrics } from '../../lib/contract/agent-metrics.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  getMetrics,
  async ({ params, query, caller }, { metrics }) => metrics.of(caller.organization, params.name, query.period),
  metricsApp,
);

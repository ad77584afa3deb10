import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { environment } from '../contract/deployment.ts';
import { type Counts, metricNamespace } from '../contract/metrics.ts';

let metrics: Metrics | undefined;

/**
 * Hands counts to CloudWatch by a line of the log (its embedded metric format): nothing is called and nothing can
 * fail. Where the deployment has no name for itself, as on one machine, nobody reads such lines, and none is written.
 */
export function meter(counts: Counts): void {
  if (!process.env[environment.serviceName]) return;
  const counted = Object.entries(counts);
  if (counted.length === 0) return;
  metrics ??= new Metrics({ namespace: metricNamespace });
  for (const [name, count] of counted) metrics.addMetric(name, MetricUnit.Count, count);
  metrics.publishStoredMetrics();
}

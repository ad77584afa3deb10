import { Metrics } from '@aws-lambda-powertools/metrics';
import { environment } from '../deployment/environment.ts';
import { type Counts, type MetricName, metricNamespace, metricUnits } from '../deployment/metrics.ts';

let metrics: Metrics | undefined;

/**
 * Hands counts to CloudWatch by a line of the log (its embedded metric format): nothing is called and nothing can
 * fail. Where the deployment has no name for itself, as on one machine, nobody reads such lines, and none is written.
 */
export function meter(counts: Counts): void {
  if (!process.env[environment.serviceName]) return;
  const counted = Object.entries(counts) as [MetricName, number][];
  if (counted.length === 0) return;
  metrics ??= new Metrics({ namespace: metricNamespace });
  for (const [name, count] of counted) metrics.addMetric(name, metricUnits[name], count);
  metrics.publishStoredMetrics();
}

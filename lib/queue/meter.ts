import { Metrics } from '@aws-lambda-powertools/metrics';
import { environment } from '../deployment/environment.ts';
import { type Counts, type MetricName, metricNamespace, metricUnits } from '../deployment/metrics.ts';

let metrics: Metrics | undefined;

/**
 * Writes counts to the log in the embedded metric format of CloudWatch: it calls no service and cannot fail. A deployment
 * without a service name, such as one machine, has no reader of such lines and writes none.
 */
export function meter(counts: Counts): void {
  if (!process.env[environment.serviceName]) return;
  const counted = Object.entries(counts) as [MetricName, number][];
  if (counted.length === 0) return;
  metrics ??= new Metrics({ namespace: metricNamespace });
  for (const [name, count] of counted) metrics.addMetric(name, metricUnits[name], count);
  metrics.publishStoredMetrics();
}

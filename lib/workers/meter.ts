import { Metrics } from '@aws-lambda-powertools/metrics';
import { environment } from '../names/environment.ts';
import { type Counts, type MetricName, metricNamespace, metricUnits, modelDimension } from '../names/metrics.ts';

let metrics: Metrics | undefined;

/**
 * Writes counts to the log in the embedded metric format of CloudWatch: it calls no service and cannot fail. All counts are one
 * line; a name that several have gets a value of each. A deployment without a service name, such as one machine, has no reader
 * of such lines and writes none.
 */
export function meter(...counts: Counts[]): void {
  write(counts);
}

/** Writes the tokens of an answer in the same form: for its model, and for all models together. */
export function meterTokens(model: string, tokens: number): void {
  write(tokens > 0 ? [{ TokensUsed: tokens }] : [], [{ [modelDimension]: model }, {}]);
}

/** @param dimensions the sets of dimensions besides the service; only the service if there are none */
function write(counts: readonly Counts[], dimensions: readonly Record<string, string>[] = []): void {
  if (!process.env[environment.serviceName]) return;
  const counted = counts.flatMap(Object.entries) as [MetricName, number][];
  if (counted.length === 0) return;
  metrics ??= new Metrics({ namespace: metricNamespace });
  for (const set of dimensions) metrics.addDimensions(set);
  for (const [name, count] of counted) metrics.addMetric(name, metricUnits[name], count);
  metrics.publishStoredMetrics();
}

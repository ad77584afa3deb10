/** The CloudWatch namespace of the metrics. */
export const metricNamespace = 'Crewboard';

/** The dimension with the name of the stack. */
export const metricDimension = 'service';

/** The further dimension of `TokensUsed`, with the model that was called. */
export const modelDimension = 'model';

/** The metrics that functions write, with their units. Alarms and the dashboard use the same list. */
export const metricUnits = {
  /** 1 for each successful attempt, 0 for each failed attempt: the average is the success rate. */
  AttemptsDelivered: 'Count',
  /** Webhooks that were paused because deliveries to them only failed. */
  WebhooksPaused: 'Count',
  /** Executions by their final status. */
  ExecutionsCompleted: 'Count',
  ExecutionsFailed: 'Count',
  /**
   * Lost work: executions that failed because two of their workers were lost, and first attempts that are missing 15
   * minutes after they were due, although their messages were sent again.
   */
  WorkLost: 'Count',
  /** Model calls that were throttled. */
  ModelThrottles: 'Count',
  /** Tokens of answers of models: of each model, and of all together. */
  TokensUsed: 'Count',
  /**
   * The time that work waits beyond `allowedSeconds`. Each heartbeat writes 0 when it arrives, so that the metric is
   * missing only if a part between the schedule and the publisher of events does not work.
   */
  WorkLate: 'Seconds',
} as const;

/** The name of a metric. */
export type MetricName = keyof typeof metricUnits;

/** Values of metrics. A value of 0 is written only if an average or an alarm on missing data needs it. */
export type Counts = Partial<Record<MetricName, number>>;

/** The maximum time that work waits for a worker before an alarm, in seconds. */
const allowedSeconds = {
  /** Deliveries, including retries. The deliveries of slow webhooks are measured separately. */
  DeliveriesLate: 300,
  SlowDeliveriesLate: 1_800,
  /** Executions. */
  ExecutionsLate: 300,
  /** Changes in the stream of the table, until the publisher of events reads them. */
  ChangesLate: 60,
} as const;

/** The longest wait of each kind of work, in seconds; 0 if no work waits. */
export type Waits = Partial<Record<keyof typeof allowedSeconds, number>>;

/** Returns the largest excess over the allowed wait, in seconds; 0 if all waits are allowed. */
export function lateSeconds(waits: Waits): number {
  const waited = Object.entries(waits) as [keyof typeof allowedSeconds, number][];
  return Math.max(0, ...waited.map(([name, seconds]) => seconds - allowedSeconds[name]));
}

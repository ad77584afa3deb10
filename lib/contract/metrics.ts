/** The namespace of our metrics in CloudWatch; each is told apart by the name of its stack. */
export const metricNamespace = 'Crewboard';

/** The dimension that names the stack. */
export const metricDimension = 'service';

/** What functions count beside what AWS counts by itself; alarms and dashboard read the same list. */
export const metricNames = [
  /** Attempts that a receiver took, and those that it did not. */
  'AttemptsDelivered',
  'AttemptsFailed',
  /** Executions by their end; lost ones, of which two workers died, and overdue ones are among the failed. */
  'ExecutionsCompleted',
  'ExecutionsFailed',
  'ExecutionsLost',
  /** Calls that a model would not take for their number. */
  'ModelThrottles',
] as const;

/** A metric of ours. */
export type MetricName = (typeof metricNames)[number];

/** How often what was counted happened. */
export type Counts = Partial<Record<MetricName, number>>;

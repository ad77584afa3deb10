/** The namespace of our metrics in CloudWatch; each is told apart by the name of its stack. */
export const metricNamespace = 'Crewboard';

/** The dimension that names the stack. */
export const metricDimension = 'service';

/** What functions count beside what AWS counts by itself; alarms and dashboard read the same list. */
export const metricNames = [
  /** 1 of each attempt that a receiver took, 0 of each that it did not: their average is the share that arrives. */
  'AttemptsDelivered',
  /** Executions by their end; lost ones, of which two workers died, and overdue ones are among the failed. */
  'ExecutionsCompleted',
  'ExecutionsFailed',
  'ExecutionsLost',
  /** Calls that a model would not take for their number. */
  'ModelThrottles',
] as const;

/** A metric of ours. */
export type MetricName = (typeof metricNames)[number];

/** How often what was counted happened; 0 is written only where an average needs it. */
export type Counts = Partial<Record<MetricName, number>>;

/** The namespace of our metrics in CloudWatch; each is told apart by the name of its stack. */
export const metricNamespace = 'Crewboard';

/** The dimension that names the stack. */
export const metricDimension = 'service';

/** What functions measure beside what AWS measures by itself, each in its unit; alarms and dashboard read the same list. */
export const metricUnits = {
  /** 1 of each attempt that a receiver took, 0 of each that it did not: their average is the share that arrives. */
  AttemptsDelivered: 'Count',
  /** Executions by their end; lost ones, of which two workers died, and overdue ones are among the failed. */
  ExecutionsCompleted: 'Count',
  ExecutionsFailed: 'Count',
  ExecutionsLost: 'Count',
  /** Calls that a model would not take for their number. */
  ModelThrottles: 'Count',
  /**
   * The longest time that anything which the sweeper found has waited past the moment when a worker could have taken it;
   * 0 where it found nothing. Deliveries to webhooks with slow receivers are measured apart from all others.
   */
  DeliveriesLate: 'Seconds',
  SlowDeliveriesLate: 'Seconds',
  ExecutionsLate: 'Seconds',
  /** The time from the write of a heartbeat to its arrival at the publisher of events. */
  HeartbeatAge: 'Seconds',
} as const;

/** A metric of ours. */
export type MetricName = keyof typeof metricUnits;

/** What was measured; 0 is written only where an average, or an alarm on missing data, needs it. */
export type Counts = Partial<Record<MetricName, number>>;

/** The namespace of our metrics in CloudWatch; each is told apart by the name of its stack. */
export const metricNamespace = 'Crewboard';

/** The dimension that names the stack. */
export const metricDimension = 'service';

/** What functions measure beside what AWS measures by itself, each in its unit; alarms and dashboard read the same list. */
export const metricUnits = {
  /** 1 of each attempt that a receiver took, 0 of each that it did not: their average is the share that arrives. */
  AttemptsDelivered: 'Count',
  /** Executions by their end. */
  ExecutionsCompleted: 'Count',
  ExecutionsFailed: 'Count',
  /**
   * What was lost: executions that failed because two of their workers were lost, and deliveries of sampled events whose
   * messages are taken for lost and sent again.
   */
  WorkLost: 'Count',
  /** Calls that a model would not take for their number. */
  ModelThrottles: 'Count',
  /**
   * How much longer than allowed anything waits, see `allowedSeconds`. The arrival of each heartbeat writes 0, so the metric
   * is missing only where something between the schedule and the publisher of events does not work.
   */
  WorkLate: 'Seconds',
} as const;

/** A metric of ours. */
export type MetricName = keyof typeof metricUnits;

/** What was measured; 0 is written only where an average, or an alarm on missing data, needs it. */
export type Counts = Partial<Record<MetricName, number>>;

/** How long work that a worker could take may wait before an alarm is raised, in seconds. */
const allowedSeconds = {
  /** A delivery, first or repeated; those to webhooks with slow receivers are measured apart from all others. */
  DeliveriesLate: 300,
  SlowDeliveriesLate: 1_800,
  /** An execution. */
  ExecutionsLate: 300,
  /** A change in the table's stream, until the publisher of events reads it. */
  ChangesLate: 60,
} as const;

/** The longest wait of each kind that was found, in seconds; 0 where nothing waits. */
export type Waits = Partial<Record<keyof typeof allowedSeconds, number>>;

/** Returns how many seconds the worst of these waits is longer than allowed; 0 where none is. */
export function lateSeconds(waits: Waits): number {
  const waited = Object.entries(waits) as [keyof typeof allowedSeconds, number][];
  return Math.max(0, ...waited.map(([name, seconds]) => seconds - allowedSeconds[name]));
}

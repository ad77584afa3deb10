import { handler } from '../../../functions/pipeline/sweep-overdue.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { type Job, jobs } from '../../../lib/deployment/consumers.ts';

/** A time that is later than every due time. */
export const allTime = '9999-12-31T23:59:59.999Z';

/** Calls the sweeper as the schedule of a job does. `until` is the latest due time to sweep, by default now. */
export async function runJob(job: Job, until?: string): Promise<void> {
  await handler({ detail: { job, ...(until && { until }) } }, contextOf('sweepOverdue', 60));
}

/** Calls the sweeper once for each of its schedules. */
export async function runJobs(until?: string): Promise<void> {
  for (const job of jobs) await runJob(job, until);
}

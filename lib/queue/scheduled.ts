import type { Context as LambdaContext } from 'aws-lambda';
import * as v from 'valibot';
import type { Context } from '../context.ts';
import { Timestamp } from '../contract/shapes.ts';
import { type Job, jobs } from '../deployment/consumers.ts';
import { type Counts, lateSeconds, type Waits } from '../deployment/metrics.ts';
import type { SweepCall, Swept } from '../table/due.ts';
import { meter } from './meter.ts';

/** What a schedule calls with. `until` is given by the local deployment, which reaches ahead when it starts with empty queues. */
const Detail = v.object({ job: v.picklist(jobs), until: v.optional(Timestamp) });

/** What a job did, how long what it found has waited, and what it counted. */
type Done = Partial<Swept> & { waits?: Waits; counts?: Counts };

/** A job ends so long before its function's time is over: the step that it is in needs time to end. */
const reserveMs = 15_000;

/**
 * The Lambda handler of schedules, each of which calls it for one job.
 *
 * @param work does each job. It is given the moment to act for, which is now or `detail.until`, and asked to stop when the
 *   function's time is nearly over; a call with `detail.until` has all the time that it needs
 */
export function scheduled<App extends Context>(
  work: Record<Job, (call: Required<SweepCall>, app: App) => Promise<Done>>,
  open: () => App,
) {
  return async (
    event: { detail: unknown },
    context: Pick<LambdaContext, 'getRemainingTimeInMillis'>,
  ): Promise<void> => {
    const { job, until } = v.parse(Detail, event.detail);
    const call = until
      ? { until: Date.parse(until), hasTime: () => true }
      : { until: open().clock(), hasTime: () => context.getRemainingTimeInMillis() > reserveMs };
    const { waits = {}, counts = {}, ...did } = await work[job](call, open());
    const late = lateSeconds(waits);
    meter({ ...counts, ...(late > 0 && { WorkLate: late }) });
    open().log.info('scheduled', { job, ...did, ...waits, ...counts });
  };
}

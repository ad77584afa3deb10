import type { Context as LambdaContext } from 'aws-lambda';
import * as v from 'valibot';
import { type Context, processContext } from '../context/context.ts';
import { Timestamp } from '../contract/shapes.ts';
import type { Job } from '../names/consumers.ts';
import { type Counts, lateSeconds, type Waits } from '../names/metrics.ts';
import { withStartCheck } from '../names/start-check.ts';
import { checkTable } from '../table/check-table.ts';
import type { SweepCall, Swept } from '../table/lists/due.ts';
import { meter } from './meter.ts';

/** The result of a job: the numbers of its sweep, how long the items have waited, and counts for the metrics. */
type Done = Partial<Swept> & { waits?: Waits; counts?: Counts };

/** The time that a job leaves for its last step, in milliseconds, before the timeout of the function. */
const reserveMs = 15_000;

/**
 * Returns the Lambda handler of schedules, each of which calls it for one job. Only the local deployment names `until` in
 * its event: at its start the queues are empty, so it sweeps ahead.
 *
 * @param work runs each job. `until` is now or `detail.until`; `hasTime` returns `false` shortly before the timeout
 *   of the function, and always `true` with `detail.until`
 */
export function scheduled<const Name extends Job>(
  work: Record<Name, (call: Required<SweepCall>, context: Context) => Promise<Done>>,
) {
  const Detail = v.object({ job: v.picklist(Object.keys(work) as Name[]), until: v.optional(Timestamp) });
  const handler = async (
    event: { detail: unknown },
    lambda: Pick<LambdaContext, 'getRemainingTimeInMillis'>,
  ): Promise<void> => {
    const context = processContext();
    const { job, until } = v.parse(Detail, event.detail);
    const call = until
      ? { until: Date.parse(until), hasTime: () => true }
      : { until: context.clock(), hasTime: () => lambda.getRemainingTimeInMillis() > reserveMs };
    const { waits = {}, counts = {}, ...did } = await work[job](call, context);
    const late = lateSeconds(waits);
    meter({ ...counts, ...(late > 0 && { WorkLate: late }) });
    context.log.info('scheduled', { job, ...did, ...waits, ...counts });
  };
  return withStartCheck(handler, () => checkTable(processContext()));
}

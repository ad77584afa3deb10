import type { ScheduledEvent } from 'aws-lambda';
import type { Base } from '../apps/base.ts';

/**
 * The Lambda handler of a schedule.
 *
 * @param handle is given the moment to act for, in milliseconds since 1970: now, or `detail.until` of the event, by
 *   which the local deployment reaches ahead when it starts with empty queues
 */
export function scheduled<App extends Base>(
  handle: (until: number, app: App) => Promise<Record<string, number>>,
  open: () => App,
) {
  return async (event: Pick<ScheduledEvent<{ until?: string }>, 'detail'>): Promise<void> => {
    const { until } = event.detail ?? {};
    const done = await handle(until ? Date.parse(until) : open().clock(), open());
    open().log.info('scheduled', done);
  };
}

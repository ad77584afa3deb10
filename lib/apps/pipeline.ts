import { openAttemptLog } from '../table/attempt-log.ts';
import { openDeliverySweep } from '../webhooks/sweep.ts';
import { openVerification } from '../webhooks/verification.ts';
import { appOf } from './base.ts';
import { publisherApp } from './publisher.ts';
import { queueOf } from './queues.ts';

/** The app of functions that look after everything that is under way: all that the table's changes can set off. */
export const pipelineApp = appOf((base) => {
  const { table, clock } = base;
  const app = publisherApp(base);
  const verification = openVerification({ ...app.publisherParts, attempts: openAttemptLog(table) });
  return {
    ...app,
    verification,
    sweepDeliveries: openDeliverySweep({
      table,
      verification,
      wake: app.deliveries.wake,
      clock,
    }),
    /** Where what can never be published waits for an operator. */
    deadLetters: queueOf<unknown>(base, 'deadLetters'),
  };
});

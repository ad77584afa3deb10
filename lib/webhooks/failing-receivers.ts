import type { Context } from '../context/context.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { isTooFarAhead } from '../table/access/clocks.ts';
import { ignoreConflict } from '../table/access/transact.ts';
import { closedAfterMs } from '../table/deliveries/attempt-counts.ts';
import { type AttemptOutcome, isBefore, readOutcomesBack } from '../table/deliveries/outcomes.ts';
import type { LogClockContext } from '../table/events/log-clock.ts';
import { logTimeOf } from '../table/events/log-times.ts';
import { type Failing, storeFailing } from '../table/webhooks/failing.ts';
import { lastResume, withPause } from '../table/webhooks/pauses.ts';
import { changeWebhook, readWebhook, type Target } from '../table/webhooks/webhooks.ts';
import { canBeginFailure, knownOf, storedFailure } from './failing-times.ts';
import { createOwnEvent } from './own-events.ts';

/** The number of deliveries that must fail permanently before a webhook is paused. */
const fewestExhausted = 10;

/** How long no worker checks the history of a webhook again after a check, in milliseconds. */
const checkAgainMs = 10 * 60_000;

/**
 * The maximum number of attempts that a check reads, the newest ones. More in ten minutes are as good as certain to have
 * the same outcome, and a success among them is found by another check.
 */
const mostChecked = 10_000;

/**
 * Checks a webhook whose delivery has failed permanently, and pauses it if deliveries to it have only failed for
 * `failingAfterMs` and at least `fewestExhausted` of them permanently. Reads the part of the history that no check has
 * read yet, back to the last success, and stores the result in the webhook: at most once in `checkAgainMs`. An attempt
 * that succeeds, or that has a retry, needs no check.
 *
 * @param now Unix time, in ms
 * @returns whether the webhook was paused
 */
export async function checkFailing(
  context: Context,
  organization: Organization,
  webhookId: string,
  target: Pick<Target, 'failing' | 'pauses'>,
  now: number,
): Promise<boolean> {
  const before = target.failing;
  const checkedUntil = before && Date.parse(before.checkedUntil);
  if (checkedUntil && !isTooFarAhead(checkedUntil, now, 0) && now - checkedUntil < checkAgainMs) return false;
  const failing = await readFailing(context, organization, webhookId, target, now);
  if (!failing) return false;
  const { stored, exhausted } = failing;
  if (!(await storeFailing(context, organization, webhookId, before, stored))) return false;
  const isFailing = now - Date.parse(stored.since) >= context.failingAfterMs && exhausted >= fewestExhausted;
  return isFailing && pauseFailing(context, organization, webhookId, now);
}

/**
 * Returns what is known of the failures of a webhook after a check, and the number of all deliveries that failed
 * permanently; `undefined` if the newest attempt succeeded. Rows can still be added to the last two minutes of the log, so
 * the next check reads these again.
 */
async function readFailing(
  context: Context,
  organization: Organization,
  webhookId: string,
  target: Pick<Target, 'failing' | 'pauses'>,
  now: number,
): Promise<{ stored: Failing; exhausted: number } | undefined> {
  const latest = knownOf(target);
  // After a step back of the clock, the rows that a check has not read are not those after its end.
  const known = latest && isTooFarAhead(Date.parse(latest.checkedUntil), now, 0) ? undefined : latest;
  const from = known ? Date.parse(known.checkedUntil) : Math.max(now - context.failingAfterMs, lastResume(target));
  const checkedUntil = now - closedAfterMs;
  let [since, lastSuccessAt] = [known?.since, known?.lastSuccessAt];
  let [exhausted, closed] = [0, 0];
  let firstFailure: string | undefined;
  let isAfterSuccess = false;
  for await (const outcome of readOutcomesBack(context, organization, webhookId, { from, most: mostChecked })) {
    if (outcome.error === undefined) {
      lastSuccessAt = outcome.deliveredAt;
      isAfterSuccess = true;
      break;
    }
    if (!canBeginFailure(outcome)) continue;
    firstFailure = outcome.deliveredAt;
    if (!isLastOfSchedule(context, outcome)) continue;
    exhausted += 1;
    if (isBefore(outcome, checkedUntil)) closed += 1;
  }
  if (isAfterSuccess || since === undefined) since = firstFailure;
  if (since === undefined) return undefined;
  const earlier = isAfterSuccess ? 0 : (known?.exhausted ?? 0);
  const stored = {
    since,
    exhausted: earlier + closed,
    checkedUntil: timestamp(checkedUntil),
    ...(lastSuccessAt !== undefined && { lastSuccessAt }),
  };
  return { stored, exhausted: earlier + exhausted };
}

/**
 * Returns whether an attempt was the last one of its retry schedule, which begins anew in a recovery. Redeliveries have
 * other numbers, apart from very few.
 */
function isLastOfSchedule({ retrySchedule }: Context, { attempt, scheduleStart = 1 }: AttemptOutcome): boolean {
  return attempt - scheduleStart === retrySchedule.length;
}

async function pauseFailing(
  context: LogClockContext,
  organization: Organization,
  webhookId: string,
  now: number,
): Promise<boolean> {
  const before = await readWebhook(context, organization, webhookId);
  if (!before?.active) return false;
  // Events are compared with this time.
  const since = await logTimeOf(context, organization, now);
  const after = {
    ...before,
    active: false,
    pauses: withPause(before, since, 'failing'),
    version: before.version + 1,
  };
  const event = createOwnEvent('webhook.paused', after, storedFailure(before), now);
  // The next check pauses a webhook that was changed at the same time.
  const times = { since: timestamp(since), now, event };
  const changed = changeWebhook(context, organization, before, after, times).then(() => true);
  return (await changed.catch(ignoreConflict)) ?? false;
}

import type { Context } from '../context.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Webhook } from '../contract/webhooks.ts';
import { isTooFarAhead } from '../table/clocks.ts';
import { closedAfterMs } from '../table/deliveries/attempt-counts.ts';
import { type Failing, storeFailing } from '../table/deliveries/failing.ts';
import { type AttemptOutcome, isBefore, readOutcomesBack } from '../table/deliveries/outcomes.ts';
import { lastResume, openPauseOf, type Pausable, withoutPause, withPause } from '../table/deliveries/pauses.ts';
import { changeWebhook, readWebhook, type StoredWebhook, type Target } from '../table/deliveries/webhooks.ts';
import { type LogClockContext, logTimeOf } from '../table/events/log-clock.ts';
import { ignoreConflict, retryOnConflict } from '../table/transact.ts';

/** The number of deliveries that must fail permanently before a webhook is paused. */
const fewestExhausted = 10;

/** How long no worker checks the history of a webhook again after a check, in milliseconds. */
const checkAgainMs = 10 * 60_000;

/**
 * The maximum number of attempts that a check reads, the newest ones. More in ten minutes are as good as certain to have
 * the same outcome, and a success among them is found by another check.
 */
const mostChecked = 10_000;

type FailingContext = Pick<Context, 'failingAfterMs' | 'retrySchedule'> & LogClockContext;

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
  context: FailingContext,
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
  context: FailingContext,
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
    if (outcome.test) continue;
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
function isLastOfSchedule({ retrySchedule }: FailingContext, { attempt, scheduleStart = 1 }: AttemptOutcome): boolean {
  return attempt - scheduleStart === retrySchedule.length;
}

/** Returns what is known of the failures of a webhook since it was resumed; `undefined` if no check was made. */
function knownOf(webhook: Pausable & { failing?: Failing | undefined }): Failing | undefined {
  const { failing } = webhook;
  return failing && Date.parse(failing.since) >= lastResume(webhook) ? failing : undefined;
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
  // The next check pauses a webhook that was changed at the same time.
  const times = { since: timestamp(since), now };
  const changed = changeWebhook(context, organization, before, after, times).then(() => true);
  return (await changed.catch(ignoreConflict)) ?? false;
}

/** Resumes a webhook that was paused because its deliveries failed. Does nothing for any other webhook. */
export async function resumeFailing(
  context: LogClockContext,
  organization: Organization,
  webhookId: string,
): Promise<void> {
  await retryOnConflict(context.table, async () => {
    const before = await readWebhook(context, organization, webhookId);
    if (!before || openPauseOf(before)?.reason === undefined) return;
    const now = context.clock();
    const since = await logTimeOf(context, organization, now);
    const after = { ...before, active: true, pauses: withoutPause(before, since), version: before.version + 1 };
    await changeWebhook(context, organization, before, after, { since: timestamp(since), now });
  });
}

/** The times of the latest attempts to a webhook, and since when deliveries to it only fail. */
type Health = Pick<Webhook, 'lastDeliveryAt' | 'lastSuccessAt' | 'lastFailureAt' | 'failingSince'>;

/** Returns the health of a webhook, from the newest outcomes and the latest check of its failures. */
export function healthOf(webhook: StoredWebhook, newest: readonly AttemptOutcome[]): Health {
  const lastDeliveryAt = newest[0]?.deliveredAt;
  const successAt = newest.findIndex(({ error }) => error === undefined);
  const lastSuccessAt = newest[successAt]?.deliveredAt ?? webhook.failing?.lastSuccessAt;
  const lastFailureAt = newest.find(({ error }) => error !== undefined)?.deliveredAt;
  const resumedAt = lastResume(webhook);
  const failures = (successAt === -1 ? newest : newest.slice(0, successAt)).filter(
    ({ test, deliveredAt }) => !test && Date.parse(deliveredAt) >= resumedAt,
  );
  // The check has read further back than the newest outcomes, unless they have a success.
  const known = successAt === -1 ? knownOf(webhook)?.since : undefined;
  const failingSince = failures.length > 0 ? (known ?? failures.at(-1)?.deliveredAt) : undefined;
  return {
    ...(lastDeliveryAt !== undefined && { lastDeliveryAt }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt }),
    ...(lastFailureAt !== undefined && { lastFailureAt }),
    ...(failingSince !== undefined && { failingSince }),
  };
}

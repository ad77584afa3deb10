import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryRecord } from '../../../lib/contract/webhooks/webhooks.ts';
import type { RetrySchedule } from '../../../lib/settings/retry-schedule.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { type Key, webhookOf } from '../../../lib/table/access/keys.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { readAttemptCounts } from '../../../lib/table/deliveries/attempt-counts.ts';
import { dumpOf } from '../../table/fixtures/table-dump.ts';

export type LoggedAttempt = DeliveryRecord & Key & { nextAttemptAt?: string; dueAt?: string };

/** What the attempts of a delivery say of it: its next attempt while there is one, else its last one. */
export type DeliveryState =
  | { state: 'pending'; attempt: 1 }
  | { state: 'retrying'; attempt: number; nextAttemptAt: string; listed: boolean }
  | { state: 'delivered' | 'exhausted'; attempt: number; listed: boolean };

/** Returns the state of a delivery. `listed` says whether any of its attempts is on the sweeper's list. */
export function stateOf(rows: readonly LoggedAttempt[]): DeliveryState {
  const last = rows.toSorted((a, b) => a.attempt - b.attempt).at(-1);
  if (!last) return { state: 'pending', attempt: 1 };
  const listed = rows.some(({ dueAt }) => dueAt !== undefined);
  const { attempt, error, nextAttemptAt } = last;
  if (error === undefined) return { state: 'delivered', attempt, listed };
  if (nextAttemptAt === undefined) return { state: 'exhausted', attempt, listed };
  return { state: 'retrying', attempt: attempt + 1, nextAttemptAt, listed };
}

/** An expected delivery of a committed change: the webhook, and the name of the event. */
export type Expected = { webhookId: string; name: string };

/** A post and its time, in milliseconds since 1970, and the name of its event where a receiver has seen it. */
export type Posted = { at: number; webhookId: string; deliveryId: string; name?: string };

/** Returns the name of an event, which no two events share: no task and no execution of these tests gets a status twice. */
export function nameOf(event: string, { task, execution }: { task?: Named; execution?: Named }): string {
  const { id, status } = task ?? execution ?? {};
  return `${event} ${id} ${status}`;
}
type Named = { id: string; status: string };

/** The facts that the table does not have. */
export type Known = {
  expected: readonly Expected[];
  posts: readonly Posted[];
  /**
   * The delivery of each post that may have no row of its own, because its worker was lost before it wrote the row, or
   * began before another worker wrote it.
   */
  unrecorded?: readonly string[];
  retrySchedule: RetrySchedule;
  now: number;
};

/** The faults, the number of deliveries by their end, the lateness of the latest attempt, and the number of posts. */
export type PipelineCheck = { wrong: string[]; ends: Record<string, number>; latestMs: number; posts: number };

type Delivery = Expected & { id: string; occurredAt: string; history: LoggedAttempt[] };

const key = ({ webhookId, name }: Expected) => `${webhookId} ${name}`;

/**
 * Compares the items of an organization with the posts and the expected deliveries, once no work remains: each committed
 * change has one delivery for each subscriber, each delivery has ended, its history has one row for each attempt, and no
 * post was early, unexpected, or repeated without a fault.
 */
export async function checkPipeline(table: Table, organization: Organization, known: Known): Promise<PipelineCheck> {
  const items = Object.values(await dumpOf(table, organization)) as (Item & { pk: string; sk: string })[];
  const there = new Set(items.filter(({ pk }) => pk === `O#${organization}#W`).map(({ sk }) => `wh_${sk}`));
  const rows = items.filter(({ sk }) => sk.startsWith('A#')) as unknown as (LoggedAttempt & { eventId: string })[];
  const events = new Map(items.filter(({ pk }) => pk === `O#${organization}#E`).map((item) => [item.sk, item]));
  const deliveries = [...Map.groupBy(rows, ({ deliveryId }) => deliveryId)].map(([id, history]): Delivery => {
    const { pk, event, eventId } = history[0] as (typeof history)[number];
    const data = JSON.parse(events.get(ulidOf(eventId))?.data as string);
    history.sort((a, b) => a.attempt - b.attempt);
    const { occurredAt } = data;
    return { id, webhookId: `wh_${webhookOf(pk)}`, name: nameOf(event, data), occurredAt, history };
  });

  const posts = Map.groupBy(known.posts, ({ deliveryId }) => deliveryId);
  const unrecorded = Map.groupBy(known.unrecorded ?? [], (deliveryId) => deliveryId);
  const ids = new Set(deliveries.map(({ id }) => id));
  // A deleted webhook gets no further attempts.
  const dropped = known.expected.filter(
    (one) => !there.has(one.webhookId) && !deliveries.some((two) => key(one) === key(two)),
  );
  const ends: Record<string, number> = dropped.length > 0 ? { dropped: dropped.length } : {};
  const late: number[] = [];
  const wrong: string[] = [
    ...differences(known.expected.filter((one) => !dropped.includes(one)).map(key), deliveries.map(key)),
    ...[...posts.keys()].filter((id) => !ids.has(id)).map((id) => `${id} is no delivery`),
    ...(await wrongCounts(table, organization, rows, known.now)),
  ];
  for (const { id, webhookId, name, occurredAt, history } of deliveries) {
    const sent = posts.get(id) ?? [];
    const dues = duesOf(occurredAt, history, known.retrySchedule);
    const lost = unrecorded.get(id)?.length ?? 0;
    const { state, ...rest } = stateOf(history);
    const end = state === 'retrying' && !there.has(webhookId) ? 'dropped' : state;
    const faults = faultsOfHistory(history);
    if (end === 'retrying') faults.push(`waits for attempt ${rest.attempt}`);
    if (end === 'exhausted' && rest.attempt !== 4) faults.push(`is exhausted after attempt ${rest.attempt}`);
    if ('listed' in rest && rest.listed) faults.push('is on the list of the sweeper still');
    // An attempt without a response may have no post.
    const answered = history.filter(({ httpStatus }) => httpStatus !== 0).length;
    if (sent.length < answered || sent.length > history.length + lost)
      faults.push(`was posted ${sent.length} times, of which ${lost} could not be recorded, not ${history.length}`);
    faults.push(...sent.flatMap((post) => faultsOfPost({ webhookId, name }, post, history, dues)));
    wrong.push(...faults.map((fault) => `${id} ${fault}`));
    ends[end] = (ends[end] ?? 0) + 1;
    late.push(...history.map((record, nth) => startOf(record) - (dues[nth] ?? 0)));
  }
  return { wrong, ends, latestMs: Math.max(0, ...late), posts: known.posts.length };
}

const startOf = ({ deliveredAt, durationMs }: LoggedAttempt) => Date.parse(deliveredAt) - durationMs;

function duesOf(occurredAt: string, history: readonly LoggedAttempt[], retrySchedule: RetrySchedule): number[] {
  return [
    Date.parse(occurredAt),
    ...history.map(({ deliveredAt }, nth) => Date.parse(deliveredAt) + (retrySchedule[nth] ?? Infinity)),
  ];
}

/** Returns the missing and the unexpected deliveries. */
function differences(expected: readonly string[], found: readonly string[]): string[] {
  const [wanted, there] = [expected, found].map((all) => Map.groupBy(all, (one) => one));
  const all = new Set([...expected, ...found]);
  return [...all].flatMap((one) => {
    const [want = 0, have = 0] = [wanted?.get(one)?.length, there?.get(one)?.length];
    return want === have ? [] : [`${have} deliveries, not ${want}, of ${one}`];
  });
}

/** Returns the webhooks whose counted attempts differ from their rows. */
async function wrongCounts(table: Table, organization: Organization, rows: readonly LoggedAttempt[], now: number) {
  const wrong: string[] = [];
  for (const [webhook, { length }] of Map.groupBy(rows, ({ pk }) => `wh_${webhookOf(pk)}`)) {
    const { days, open } = await readAttemptCounts({ table }, organization, webhook, now);
    const counted = Object.values(days).reduce((sum, number) => sum + number, open);
    if (counted !== length) wrong.push(`${counted} attempts of ${webhook} are counted, there are ${length}`);
  }
  return wrong;
}

/** Attempts are numbered from 1 without a gap, have ids of their own, and all but the last have failed. */
function faultsOfHistory(history: readonly LoggedAttempt[]): string[] {
  const ids = new Set(history.map(({ id }) => id));
  const faults = ids.size === history.length ? [] : ['has attempts of one id'];
  for (const [nth, { id, deliveryId, attempt, redelivery, error }] of history.entries()) {
    if (attempt !== nth + 1) faults.push(`has attempt ${attempt} as its number ${nth + 1}`);
    if (redelivery !== nth > 0) faults.push(`has attempt ${attempt} with redelivery ${redelivery}`);
    if ((id === deliveryId) !== (nth === 0)) faults.push(`has attempt ${attempt} under the id ${id}`);
    if (nth < history.length - 1 && error === undefined) faults.push(`went on after the success of attempt ${attempt}`);
  }
  return faults;
}

/** A post goes to the delivery's own webhook, and not before its attempt is due. */
function faultsOfPost(
  { webhookId, name }: Expected,
  post: Posted,
  history: readonly LoggedAttempt[],
  dues: readonly number[],
): string[] {
  const made = history.filter(({ deliveredAt }) => Date.parse(deliveredAt) < post.at).length;
  const early = (dues[made] ?? Number.POSITIVE_INFINITY) - post.at;
  return [
    ...(post.webhookId === webhookId ? [] : [`was posted to ${post.webhookId}`]),
    ...(post.name === undefined || post.name === name ? [] : [`was posted as ${post.name}`]),
    ...(early > 0 ? [`was posted ${early} ms early`] : []),
  ];
}

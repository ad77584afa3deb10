import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import type { Table } from '../../lib/table/client.ts';
import type { Delivery } from '../../lib/table/delivery-items.ts';
import type { Item } from '../../lib/table/transact.ts';
import type { Ladder } from '../../lib/webhooks/ladder.ts';
import { dumpOf } from '../table-dump.ts';

/** What one webhook ought to have been told of one committed change: an event and its `data` as JSON. */
export type Expected = { webhookId: string; event: string; data: string };

/** A post that went out, and when: milliseconds since 1970. */
export type Posted = { at: number; webhookId: string; deliveryId: string };

/** What is known beside the table. */
export type Known = {
  expected: readonly Expected[];
  posts: readonly Posted[];
  /** The deliveries of posts whose workers were lost before they wrote the attempt down: one entry for each post. */
  unrecorded?: readonly string[];
  ladder: Ladder;
};

/** What a recount comes to: what is wrong, how deliveries ended, and the latest attempt's lateness. */
export type Recount = { wrong: string[]; ends: Record<string, number>; latestMs: number };

const key = ({ webhookId, event, data }: Expected) => `${webhookId} ${event} ${data}`;

/**
 * Recounts a pipeline at rest by what the organization has in the table: every change that was committed has become
 * one delivery for each webhook that hears it, every delivery has ended, its history has one row for each attempt, and
 * nothing was posted early, twice without need, or of something that there is not.
 */
export async function recount(table: Table, organization: Organization, known: Known): Promise<Recount> {
  const items = Object.values(await dumpOf(table, organization)) as (Item & { pk: string; sk: string })[];
  const ofDeliveries = items.filter(({ pk }) => pk.startsWith(`O#${organization}#WD#`));
  const deliveries = ofDeliveries.filter(({ sk }) => sk.startsWith('D#')) as unknown as Delivery[];
  const records = ofDeliveries.filter(({ sk }) => sk.startsWith('*#')) as unknown as DeliveryRecord[];
  const counted = items
    .filter(({ pk }) => pk.startsWith(`O#${organization}#C#WD#`))
    .reduce((total, counter) => total + (counter['*'] as number), 0);

  const histories = Map.groupBy(records, ({ deliveryId }) => deliveryId);
  const posts = Map.groupBy(known.posts, ({ deliveryId }) => deliveryId);
  const unrecorded = Map.groupBy(known.unrecorded ?? [], (deliveryId) => deliveryId);
  const ends: Record<string, number> = {};
  const late: number[] = [];
  const wrong: string[] = [
    ...differences(known.expected.map(key), deliveries.map(key)),
    ...strangers(deliveries, [...histories.keys(), ...posts.keys()]),
    ...(counted === records.length ? [] : [`${counted} attempts are counted, there are ${records.length}`]),
  ];
  for (const delivery of deliveries) {
    const history = (histories.get(delivery.id) ?? []).sort((a, b) => a.attempt - b.attempt);
    const sent = posts.get(delivery.id) ?? [];
    const dues = duesOf(delivery, history, known.ladder);
    const lost = unrecorded.get(delivery.id)?.length ?? 0;
    const faults = [...faultsOfEnd(delivery, history), ...faultsOfHistory(history)];
    if (sent.length !== history.length + lost)
      faults.push(`was posted ${sent.length} times, of which ${lost} could not be recorded, not ${history.length}`);
    faults.push(...sent.flatMap((post) => faultsOfPost(delivery, post, history, dues)));
    wrong.push(...faults.map((fault) => `${delivery.id} ${fault}`));
    ends[delivery.state] = (ends[delivery.state] ?? 0) + 1;
    late.push(...history.map((record, nth) => startOf(record) - (dues[nth] ?? 0)));
  }
  return { wrong, ends, latestMs: Math.max(0, ...late) };
}

const startOf = ({ deliveredAt, durationMs }: DeliveryRecord) => Date.parse(deliveredAt) - durationMs;

/** When each attempt was due that was made, and the one after them. */
function duesOf({ data }: Delivery, history: readonly DeliveryRecord[], ladder: Ladder): number[] {
  const first = Date.parse(JSON.parse(data).occurredAt);
  return [first, ...history.map(({ deliveredAt }, nth) => Date.parse(deliveredAt) + (ladder[nth] ?? Infinity))];
}

/** What is missing of what was expected, and what is too much. */
function differences(expected: readonly string[], found: readonly string[]): string[] {
  const [wanted, there] = [expected, found].map((all) => Map.groupBy(all, (one) => one));
  const all = new Set([...expected, ...found]);
  return [...all].flatMap((one) => {
    const [want = 0, have = 0] = [wanted?.get(one)?.length, there?.get(one)?.length];
    return want === have ? [] : [`${have} deliveries, not ${want}, of ${one}`];
  });
}

/** Attempts and posts of deliveries that there are not. */
function strangers(deliveries: readonly Delivery[], named: readonly string[]): string[] {
  const known = new Set(deliveries.map(({ id }) => id));
  return named.filter((id) => !known.has(id)).map((id) => `${id} is no delivery`);
}

/** A delivery has ended, as its last attempt did, and waits for nothing any more. */
function faultsOfEnd(delivery: Delivery, history: readonly DeliveryRecord[]): string[] {
  const { state, attempt } = delivery;
  const held = ['due', 'dueAt', 'claim', 'leaseUntil'].filter((name) => name in delivery);
  const faults = held.map((name) => `has ${name} still`);
  const last = history.at(-1);
  if (state === 'skipped') return attempt === history.length + 1 ? faults : [...faults, 'lost an attempt when skipped'];
  if (attempt !== history.length) faults.push(`ended by attempt ${attempt} with ${history.length} in its history`);
  if (state === 'delivered' && last?.error === undefined) return faults;
  if (state === 'exhausted' && last?.error !== undefined && attempt === 4) return faults;
  return [...faults, `is ${state} after attempt ${attempt}, which ended with ${last?.error ?? 'success'}`];
}

/** Attempts are numbered from 1 without a gap, have ids of their own, and all but the last have failed. */
function faultsOfHistory(history: readonly DeliveryRecord[]): string[] {
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
  { webhookId }: Delivery,
  post: Posted,
  history: readonly DeliveryRecord[],
  dues: readonly number[],
): string[] {
  const made = history.filter(({ deliveredAt }) => Date.parse(deliveredAt) < post.at).length;
  const early = (dues[made] ?? Number.POSITIVE_INFINITY) - post.at;
  return [
    ...(post.webhookId === webhookId ? [] : [`was posted to ${post.webhookId}`]),
    ...(early > 0 ? [`was posted ${early} ms early`] : []),
  ];
}

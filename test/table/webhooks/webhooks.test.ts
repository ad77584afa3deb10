import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { EventName } from '../../../lib/contract/webhooks/events.ts';
import { readSubscribers } from '../../../lib/table/webhooks/subscriptions.ts';
import {
  bookTimes,
  leaseSlowAttempt,
  markWebhookSlow,
  type Pace,
  updatePace,
} from '../../../lib/table/webhooks/webhook-attempts.ts';
import {
  insertWebhook,
  readTarget,
  readWebhook,
  readWebhooks,
  removeWebhook,
  type StoredWebhook,
} from '../../../lib/table/webhooks/webhooks.ts';
import { meter } from '../fixtures/capacity.ts';
import { dumpOf } from '../fixtures/table-dump.ts';
import { createTestTable, errorOf, newOrganization } from '../tasks/test-table.ts';

const board = await createTestTable();
const { costOf } = meter(board.table);
const context = { table: board.table, batchers: {} };
let organization: Organization;

beforeEach(() => {
  organization = newOrganization();
});

const newWebhook = (events: EventName[] = ['task.created']) => {
  const createdAt = new Date(board.clock()).toISOString();
  return { id: `wh_${board.app.ulid()}`, url: 'https://example.com/', events, active: true, createdAt };
};

async function insert(webhook = newWebhook(), encryptedSecret?: string): Promise<StoredWebhook> {
  await insertWebhook(board, organization, webhook, encryptedSecret, undefined);
  const signed = encryptedSecret ? { signed: true, secretChangedAt: webhook.createdAt } : { signed: false };
  return { ...webhook, ...signed, version: 1, slow: false };
}

const dump = () => dumpOf(board.table, organization);
const fill = (count: number) => Promise.all(Array.from({ length: count }, () => insert()));

it('a webhook in the table is read as it was put, without its secret, which only its target has', async () => {
  const webhook = await insert(newWebhook(), 'ciphertext');
  expect(await readWebhook(board, organization, webhook.id)).toEqual(webhook);
  expect(await readWebhooks(board, organization)).toEqual([webhook]);
  const target = { url: 'https://example.com/', slow: false, slowLeases: {} };
  expect(await readTarget(board, organization, webhook.id)).toEqual({ ...target, encryptedSecret: 'ciphertext' });
  expect(await readTarget(board, organization, (await insert()).id)).toEqual(target);
});

it('a webhook in the table is listed newest first, ties by descending id', async () => {
  const tied = (await fill(5)).map(({ id }) => id);
  board.clock.now += 1;
  const newest = await insert();
  const ids = (await readWebhooks(board, organization)).map(({ id }) => id);
  expect(ids).toEqual([newest.id, ...tied.sort().reverse()]);
});

it('the subscribers of an event are read once for all calls of one turn of the event loop', async () => {
  const { id } = await insert(newWebhook(['task.created', 'agent.failed']));
  const subscriber = { id, since: board.clock() };
  const events: EventName[] = ['task.created', 'task.created', 'task.completed', 'agent.failed'];
  const readAll = () => Promise.all(events.map((event) => readSubscribers(context, organization, event)));
  expect(await readAll()).toEqual([[subscriber], [subscriber], [], [subscriber]]);
  expect(await costOf(readAll)).toMatchObject({ requests: 3 });
});

it('a deleted webhook leaves nothing but the count behind', async () => {
  const webhook = await insert(newWebhook(['task.created', 'task.completed', 'agent.failed']), 'ciphertext');
  await removeWebhook(board, organization, webhook, Date.now());
  expect(Object.values(await dump())).toMatchObject([{ count: 0 }]);
  expect(await readTarget(board, organization, webhook.id)).toBeUndefined();
});

it('a deleted webhook is deleted once by concurrent requests', async () => {
  await insert();
  const webhook = await insert();
  const deletions = Array.from({ length: 5 }, () => errorOf(removeWebhook(board, organization, webhook, Date.now())));
  expect((await Promise.all(deletions)).filter((error) => error?.code === 'not_found')).toHaveLength(4);
  expect(Object.values(await dump()).filter((item) => 'count' in (item as object))).toMatchObject([{ count: 1 }]);
});

describe('the hundred webhooks of an organization', () => {
  it('have no room for another, of which nothing is written, until one is deleted', async () => {
    const [first] = await fill(100);
    const before = await dump();
    const error = await errorOf(insert(newWebhook(['task.created', 'task.completed']), 'ciphertext'));
    expect(error?.code).toBe('limit_reached');
    expect(await dump()).toEqual(before);
    await removeWebhook(board, organization, first as StoredWebhook, Date.now());
    expect(await errorOf(insert())).toBeUndefined();
  });

  it('accept exactly 5 of 10 concurrent insertions after 95', async () => {
    await fill(95);
    const errors = await Promise.all(Array.from({ length: 10 }, () => errorOf(insert())));
    expect(errors.filter((error) => error?.code === 'limit_reached')).toHaveLength(5);
    expect(await readWebhooks(board, organization)).toHaveLength(100);
    expect(await readSubscribers(context, organization, 'task.created')).toHaveLength(100);
  });
});

let webhook: StoredWebhook;
const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 12) + seconds * 1000).toISOString();
/** Writes the pace of the webhook after an attempt that has found it slow, or quick. */
const pace = (slow: boolean, found: Pace) => updatePace(board, organization, webhook.id, { slow }, found);
const target = () => readTarget(board, organization, webhook.id);

describe('a webhook with a slow receiver', () => {
  beforeEach(async () => {
    webhook = await insert();
  });
  it.each([
    ['slow', false, true, true, 1],
    ['slow as before', true, true, true, 0],
    ['quick again', true, false, false, 1],
    ['quick as before', false, false, false, 0],
    ['neither, where it was slow', true, undefined, true, 0],
    ['neither, where it was quick', false, undefined, false, 0],
  ])('is %s after an attempt, in one write only where it was another', async (_, before, slow, after, requests) => {
    if (before) await markWebhookSlow(board, organization, webhook.id);
    expect(await costOf(() => pace(before, { slow }))).toMatchObject({ requests, wcu: requests });
    expect((await target())?.slow).toBe(after);
  });

  it('returns the lease of an attempt, and no other, with the new pace', async () => {
    await markWebhookSlow(board, organization, webhook.id);
    for (const number of [0, 1, 2])
      await leaseSlowAttempt(board, organization, webhook.id, { number, now: at(0), until: at(20) });
    await pace(true, { slow: true, lease: { number: 0, until: at(20) } });
    expect(await target()).toMatchObject({ slow: true, slowLeases: { 1: at(20), 2: at(20) } });
    expect(await costOf(() => pace(true, { slow: false, lease: { number: 2, until: at(20) } }))).toMatchObject({
      requests: 1,
    });
    expect(await target()).toMatchObject({ slow: false, slowLeases: { 1: at(20) } });
  });

  it('has times that attempts book one after the other, a block in one write', async () => {
    const [earliest, gapMs] = [Date.parse(at(1)), 100];
    const nth = (...numbers: number[]) => numbers.map((number) => earliest + number * gapMs);
    let bookedUntil: number | undefined;
    const book = async (count: number, from = earliest) => {
      const times = await bookTimes(board, organization, webhook.id, { count, earliest: from, gapMs, bookedUntil });
      ({ bookedUntil } = (await target()) ?? {});
      return times;
    };
    expect(await book(2)).toEqual(nth(0, 1));
    expect(await costOf(() => book(50))).toMatchObject({ wcu: 1 });
    expect((await Promise.all([book(1), book(2), book(1)])).flat().sort()).toEqual(nth(52, 53, 54, 55));
    const later = earliest + 60_000;
    expect(await book(1, later)).toEqual([later]);
    const before = await readWebhook(board, organization, webhook.id);
    expect(before).not.toHaveProperty('bookedUntil');
    await removeWebhook(board, organization, webhook, Date.now());
    expect(await book(1)).toBeUndefined();
  });

  it('has a free lease if a clock an hour ahead has taken it', async () => {
    const take = (now: string, until: string) =>
      leaseSlowAttempt(board, organization, webhook.id, { number: 1, now, until });
    expect(await take(at(3_600), at(3_620))).toBe(true);
    expect(await take(at(0), at(20))).toBe(true);
    expect(await take(at(1), at(21))).toBe(false);
  });

  it('has numbered leases, each for one worker until it expires, which no read shows', async () => {
    const before = await readWebhook(board, organization, webhook.id);
    const take = (number: number, now: string, until: string) =>
      leaseSlowAttempt(board, organization, webhook.id, { number, now, until });
    const taken = await Promise.all([1, 1, 12].map((number) => take(number, at(0), at(20))));
    expect(taken.filter((one) => one)).toHaveLength(2);
    expect((await target())?.slowLeases).toEqual({ 1: at(20), 12: at(20) });
    expect(await take(1, at(19.999), at(40))).toBe(false);
    expect(await take(1, at(20), at(40))).toBe(true);
    expect(await readWebhook(board, organization, webhook.id)).toEqual(before);
  });

  it('that is deleted is not written again', async () => {
    await removeWebhook(board, organization, webhook, Date.now());
    const before = await dump();
    await markWebhookSlow(board, organization, webhook.id);
    await pace(false, { slow: true });
    await pace(true, { slow: false, lease: { number: 0, until: at(20) } });
    const lease = { number: 0, now: at(0), until: at(20) };
    expect(await leaseSlowAttempt(board, organization, webhook.id, lease)).toBe(false);
    expect(await dump()).toEqual(before);
  });
});

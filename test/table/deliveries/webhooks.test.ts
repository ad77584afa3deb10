import { beforeEach, describe, expect, it } from 'vitest';
import type { EventName } from '../../../lib/contract/events.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { readSubscribers } from '../../../lib/table/deliveries/subscriptions.ts';
import {
  leaseSlowAttempt,
  markWebhookSlow,
  type Pace,
  updatePace,
} from '../../../lib/table/deliveries/webhook-attempts.ts';
import {
  insertWebhook,
  readTarget,
  readWebhook,
  readWebhooks,
  removeWebhook,
} from '../../../lib/table/deliveries/webhooks.ts';
import { dumpOf } from '../../table-dump.ts';
import { meter } from '../fixtures/capacity.ts';
import { createTestTable, errorOf, type TestTable } from '../tasks/test-table.ts';

const board: TestTable = await createTestTable();
const { costOf } = meter(board.table);
const context = { table: board.table, batchers: {} };
let organization: Organization;
let organizations = 0;

beforeEach(() => {
  organization = `${board.organization}-${++organizations}` as Organization;
});

const newWebhook = (events: EventName[] = ['task.created']): Webhook => {
  const createdAt = new Date(board.clock()).toISOString();
  return { id: `wh_${board.app.ulid()}`, url: 'https://example.com/', events, active: true, createdAt };
};

async function insert(webhook = newWebhook(), encryptedSecret?: string): Promise<Webhook> {
  await insertWebhook(board, organization, webhook, encryptedSecret, undefined);
  return webhook;
}

const dump = () => dumpOf(board.table, organization);
const fill = (count: number) => Promise.all(Array.from({ length: count }, () => insert()));

describe('a webhook in the table', () => {
  it('is read as it was put, without its secret', async () => {
    const webhook = await insert(newWebhook(), 'ciphertext');
    expect(await readWebhook(board, organization, webhook.id)).toEqual(webhook);
    expect(await readWebhooks(board, organization)).toEqual([webhook]);
  });

  it('is listed newest first, ties by descending id', async () => {
    const tied = (await fill(5)).map(({ id }) => id);
    board.clock.now += 1;
    const newest = await insert();
    const ids = (await readWebhooks(board, organization)).map(({ id }) => id);
    expect(ids).toEqual([newest.id, ...tied.sort().reverse()]);
  });

  it('is a subscriber of its events, and of no others', async () => {
    const { id } = await insert(newWebhook(['task.created', 'agent.failed']));
    const isSubscribed = async (event: EventName) => (await readSubscribers(context, organization, event)).includes(id);
    expect(await isSubscribed('task.created')).toBe(true);
    expect(await isSubscribed('agent.failed')).toBe(true);
    expect(await isSubscribed('task.completed')).toBe(false);
  });

  it('is a target with its encrypted secret, or without one', async () => {
    const signed = await insert(newWebhook(), 'ciphertext');
    const plain = await insert();
    const target = { url: 'https://example.com/', slow: false, slowLeases: {} };
    expect(await readTarget(board, organization, signed.id)).toEqual({ ...target, encryptedSecret: 'ciphertext' });
    expect(await readTarget(board, organization, plain.id)).toEqual(target);
  });
});

it('the subscribers of an event are read once for all calls of one turn of the event loop', async () => {
  const { id } = await insert();
  const events: EventName[] = ['task.created', 'task.created', 'task.completed'];
  const readAll = () => Promise.all(events.map((event) => readSubscribers(context, organization, event)));
  expect(await readAll()).toEqual([[id], [id], []]);
  expect(await costOf(readAll)).toMatchObject({ requests: 2 });
});

describe('a deleted webhook', () => {
  it('leaves nothing but the count behind', async () => {
    const webhook = await insert(newWebhook(['task.created', 'task.completed', 'agent.failed']), 'ciphertext');
    await removeWebhook(board, organization, webhook);
    expect(Object.values(await dump())).toMatchObject([{ count: 0 }]);
    expect(await readTarget(board, organization, webhook.id)).toBeUndefined();
  });

  it('is deleted once by concurrent requests', async () => {
    await insert();
    const webhook = await insert();
    const errors = await Promise.all(
      Array.from({ length: 5 }, () => errorOf(removeWebhook(board, organization, webhook))),
    );
    expect(errors.filter((error) => error?.code === 'not_found')).toHaveLength(4);
    expect(Object.values(await dump()).filter((item) => 'count' in (item as object))).toMatchObject([{ count: 1 }]);
  });
});

describe('the hundred webhooks of an organization', () => {
  it('have no room for another, of which nothing is written, until one is deleted', async () => {
    const [first] = await fill(100);
    const before = await dump();
    const error = await errorOf(insert(newWebhook(['task.created', 'task.completed']), 'ciphertext'));
    expect(error?.code).toBe('limit_reached');
    expect(await dump()).toEqual(before);
    await removeWebhook(board, organization, first as Webhook);
    expect(await errorOf(insert())).toBeUndefined();
  });

  it('accept exactly 5 of 10 concurrent insertions after 95', async () => {
    await fill(95);
    const errors = await Promise.all(Array.from({ length: 10 }, () => errorOf(insert())));
    expect(errors.map((error) => error?.code ?? 'inserted').sort()).toEqual([
      ...Array(5).fill('inserted'),
      ...Array(5).fill('limit_reached'),
    ]);
    expect(await readWebhooks(board, organization)).toHaveLength(100);
    expect(await readSubscribers(context, organization, 'task.created')).toHaveLength(100);
  });
});

let webhook: Webhook;
const insertFirst = async () => {
  webhook = await insert();
};
const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 12) + seconds * 1000).toISOString();
/** Writes the pace of the webhook after an attempt that has found it slow, or quick. */
const pace = (slow: boolean, found: Pace) => updatePace(board, organization, webhook.id, { slow }, found);
const target = () => readTarget(board, organization, webhook.id);

describe('the pace of a webhook after an attempt', () => {
  beforeEach(insertFirst);

  it.each([
    ['slow', false, true, true, 1],
    ['slow as before', true, true, true, 0],
    ['quick again', true, false, false, 1],
    ['quick as before', false, false, false, 0],
    ['neither, where it was slow', true, undefined, true, 0],
    ['neither, where it was quick', false, undefined, false, 0],
  ])('is %s, in one write only where it is another', async (_, before, slow, after, requests) => {
    if (before) await markWebhookSlow(board, organization, webhook.id);
    expect(await costOf(() => pace(before, { slow }))).toMatchObject({ requests, wcu: requests });
    expect((await target())?.slow).toBe(after);
  });

  it('comes with the lease that the attempt had, and returns no other', async () => {
    await markWebhookSlow(board, organization, webhook.id);
    for (const number of [0, 1, 2])
      await leaseSlowAttempt(board, organization, webhook.id, { number, now: at(0), until: at(20) });
    await pace(true, { slow: true, slowLease: 0 });
    expect(await target()).toMatchObject({ slow: true, slowLeases: { 1: at(20), 2: at(20) } });
    expect(await costOf(() => pace(true, { slow: false, slowLease: 2 }))).toMatchObject({ requests: 1 });
    expect(await target()).toMatchObject({ slow: false, slowLeases: { 1: at(20) } });
  });
});

describe('a webhook with a slow receiver', () => {
  beforeEach(insertFirst);

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
    await removeWebhook(board, organization, webhook);
    const before = await dumpOf(board.table, organization);
    await markWebhookSlow(board, organization, webhook.id);
    await pace(false, { slow: true });
    await pace(true, { slow: false, slowLease: 0 });
    const lease = { number: 0, now: at(0), until: at(20) };
    expect(await leaseSlowAttempt(board, organization, webhook.id, lease)).toBe(false);
    expect(await dumpOf(board.table, organization)).toEqual(before);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Webhook } from '../../lib/contract/webhooks.ts';
import { type AttemptNote, openWebhookAttempts } from '../../lib/table/webhook-attempts.ts';
import { openWebhookStore } from '../../lib/table/webhooks.ts';
import { dumpOf } from '../table-dump.ts';
import { openBoard } from './board.ts';
import { meter } from './capacity.ts';

const board = await openBoard();
const { costOf } = meter(board.table);
const store = { ...openWebhookStore(board.table), ...openWebhookAttempts(board.table) };
let organization: Organization;
let organizations = 0;
let webhook: Webhook;

async function insert(): Promise<Webhook> {
  const [id, createdAt] = [`wh_${board.app.ulid()}`, new Date(board.clock()).toISOString()];
  const one: Webhook = { id, url: 'https://example.com/', events: ['task.created'], active: true, createdAt };
  await store.insert(organization, one, undefined, undefined);
  return one;
}

beforeEach(async () => {
  organization = `${board.organization}-${++organizations}` as Organization;
  webhook = await insert();
});

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 12) + seconds * 1000).toISOString();
const note = (fields: Partial<AttemptNote> & { deliveredAt: string }) =>
  store.note({ organization, webhookId: webhook.id, ...fields });
const lastDeliveryAt = async () => (await store.get(organization, webhook.id))?.lastDeliveryAt;
const target = () => store.target(organization, webhook.id);

describe('the note of an attempt on its webhook', () => {
  it('says when the newest attempt ended, whichever is noted last', async () => {
    await note({ deliveredAt: at(1) });
    expect(await lastDeliveryAt()).toBe(at(1));
    await note({ deliveredAt: at(3) });
    await note({ deliveredAt: at(2) });
    expect(await lastDeliveryAt()).toBe(at(3));
  });

  it('is one write for all that end at the same moment, which says when the last of them did', async () => {
    const seconds = [4, 9, 2, 7];
    const cost = await costOf(() => Promise.all(seconds.map((second) => note({ deliveredAt: at(second) }))));
    expect(cost).toMatchObject({ requests: 1, wcu: 1 });
    expect(await lastDeliveryAt()).toBe(at(9));
  });

  it('is of each webhook by itself', async () => {
    const other = await insert();
    await Promise.all([note({ deliveredAt: at(1) }), note({ webhookId: other.id, deliveredAt: at(2) })]);
    expect(await lastDeliveryAt()).toBe(at(1));
    expect((await store.get(organization, other.id))?.lastDeliveryAt).toBe(at(2));
  });

  it.each([
    ['slow', true, true],
    ['quick', false, false],
    ['neither', undefined, true],
  ])('of an attempt that was %s leaves a slow webhook as that says', async (_, slow, expected) => {
    await store.markSlow(organization, webhook.id);
    await note({ deliveredAt: at(1), slow });
    expect((await target())?.slow).toBe(expected);
  });

  it('says slow where any of several at once was, whatever the others were', async () => {
    await Promise.all([true, false, undefined].map((slow, nth) => note({ deliveredAt: at(nth), slow })));
    expect((await target())?.slow).toBe(true);
  });

  it('returns the leases that the attempts had, and no other', async () => {
    for (const number of [0, 1, 2])
      await store.leaseSlowAttempt(organization, webhook.id, { number, now: at(0), until: at(20) });
    await Promise.all([0, 2].map((slowLease) => note({ deliveredAt: at(1), slowLease })));
    expect((await target())?.slowLeases).toEqual({ 1: at(20) });
  });

  it('makes no webhook of one that is deleted', async () => {
    await store.delete(organization, webhook);
    const before = await dumpOf(board.table, organization);
    await note({ deliveredAt: at(1), slow: true });
    expect(await dumpOf(board.table, organization)).toEqual(before);
  });
});

describe('a webhook with a slow receiver', () => {
  it('has numbered leases, each for one worker until it expires, which no read shows', async () => {
    const before = await store.get(organization, webhook.id);
    const take = (number: number, now: string, until: string) =>
      store.leaseSlowAttempt(organization, webhook.id, { number, now, until });
    const taken = await Promise.all([1, 1, 12].map((number) => take(number, at(0), at(20))));
    expect(taken.filter((one) => one)).toHaveLength(2);
    expect((await target())?.slowLeases).toEqual({ 1: at(20), 12: at(20) });
    expect(await take(1, at(19.999), at(40))).toBe(false);
    expect(await take(1, at(20), at(40))).toBe(true);
    expect(await store.get(organization, webhook.id)).toEqual(before);
  });

  it('is marked as slow, unless it is deleted', async () => {
    await store.markSlow(organization, webhook.id);
    expect((await target())?.slow).toBe(true);
    await store.delete(organization, webhook);
    await store.markSlow(organization, webhook.id);
    const lease = { number: 0, now: at(0), until: at(20) };
    expect(await store.leaseSlowAttempt(organization, webhook.id, lease)).toBe(false);
    expect(await store.get(organization, webhook.id)).toBeUndefined();
  });
});

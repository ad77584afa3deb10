import { beforeEach, describe, expect, it } from 'vitest';
import type { EventName } from '../../lib/contract/events.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Webhook } from '../../lib/contract/webhooks.ts';
import { openSlowWebhooks } from '../../lib/table/slow-webhooks.ts';
import { openWebhookStore, webhooksLimit } from '../../lib/table/webhooks.ts';
import { dumpOf } from '../table-dump.ts';
import { type Board, openBoard, refusalOf } from './board.ts';

const board: Board = await openBoard();
const store = { ...openWebhookStore(board.table), ...openSlowWebhooks(board.table) };
let organization: Organization;
let organizations = 0;

beforeEach(() => {
  organization = `${board.organization}-${++organizations}` as Organization;
});

const newWebhook = (events: EventName[] = ['task.created']): Webhook => {
  const createdAt = new Date(board.clock()).toISOString();
  return { id: `wh_${board.app.ulid()}`, url: 'https://example.com/', events, active: true, createdAt };
};

async function insert(webhook = newWebhook(), sealed?: string): Promise<Webhook> {
  await store.insert(organization, webhook, sealed, undefined);
  return webhook;
}

const dump = () => dumpOf(board.table, organization);
const fill = (count: number) => Promise.all(Array.from({ length: count }, () => insert()));

describe('a webhook in the table', () => {
  it('is read as it was put, without its secret', async () => {
    const webhook = await insert(newWebhook(), 'sealed');
    expect(await store.get(organization, webhook.id)).toEqual(webhook);
    expect(await store.list(organization)).toEqual([webhook]);
  });

  it('is not read by another organization', async () => {
    const { id } = await insert();
    const other = `${organization}x` as Organization;
    expect(await store.get(other, id)).toBeUndefined();
    expect(await store.target(other, id)).toBeUndefined();
    expect(await store.list(other)).toEqual([]);
    expect(await store.hearing(other, 'task.created')).toEqual([]);
  });

  it('is listed newest first, ties by descending id', async () => {
    const tied = await fill(5);
    board.clock.now += 1;
    const newest = await insert();
    const ids = (await store.list(organization)).map(({ id }) => id);
    const descending = tied
      .map(({ id }) => id)
      .sort()
      .reverse();
    expect(ids).toEqual([newest.id, ...descending]);
  });

  it('is found by each event that it hears, and by no other', async () => {
    const { id } = await insert(newWebhook(['task.created', 'agent.failed']));
    const hears = async (event: EventName) => (await store.hearing(organization, event)).includes(id);
    expect(await hears('task.created')).toBe(true);
    expect(await hears('agent.failed')).toBe(true);
    expect(await hears('task.completed')).toBe(false);
  });

  it('is a target with its sealed secret, or without one', async () => {
    const signed = await insert(newWebhook(), 'sealed');
    const plain = await insert();
    expect(await store.target(organization, signed.id)).toEqual({
      url: 'https://example.com/',
      slow: false,
      slowLeases: {},
      sealed: 'sealed',
    });
    const target = { url: 'https://example.com/', slow: false, slowLeases: {} };
    expect(await store.target(organization, plain.id)).toEqual(target);
  });

  it('has numbered leases on slow attempts, each for one worker until it expires, which no read shows', async () => {
    const webhook = await insert();
    const before = await store.get(organization, webhook.id);
    const [now, until, later] = ['2026-03-01T12:00:00.000Z', '2026-03-01T12:00:20.000Z', '2026-03-01T12:00:40.000Z'];
    const take = (lease: { number: number; now: string; until: string }) =>
      store.leaseSlowAttempt(organization, webhook.id, lease);
    expect(await Promise.all([1, 1, 12].map((number) => take({ number, now, until })))).toHaveLength(3);
    expect((await store.target(organization, webhook.id))?.slowLeases).toEqual({ 1: until, 12: until });
    expect(await take({ number: 1, now, until: later })).toBe(false);
    expect(await take({ number: 1, now: until, until: later })).toBe(true);
    expect(await store.get(organization, webhook.id)).toEqual(before);
  });

  it('is marked as slow, unless it is deleted', async () => {
    const webhook = await insert();
    await store.markSlow(organization, webhook.id);
    expect((await store.target(organization, webhook.id))?.slow).toBe(true);
    await store.delete(organization, webhook);
    await store.markSlow(organization, webhook.id);
    const lease = { number: 0, now: '2026-03-01T12:00:00.000Z', until: '2026-03-01T12:00:20.000Z' };
    expect(await store.leaseSlowAttempt(organization, webhook.id, lease)).toBe(false);
    expect(await store.get(organization, webhook.id)).toBeUndefined();
  });
});

describe('a deleted webhook', () => {
  it('leaves nothing but the count behind', async () => {
    const webhook = await insert(newWebhook(['task.created', 'task.completed', 'agent.failed']), 'sealed');
    await store.delete(organization, webhook);
    expect(Object.values(await dump())).toMatchObject([{ count: 0 }]);
    expect(await store.target(organization, webhook.id)).toBeUndefined();
  });

  it('is deleted once, by however many at once', async () => {
    await insert();
    const webhook = await insert();
    const refusals = await Promise.all(Array.from({ length: 5 }, () => refusalOf(store.delete(organization, webhook))));
    expect(refusals.filter((refusal) => refusal?.code === 'not_found')).toHaveLength(4);
    expect(Object.values(await dump()).filter((item) => 'count' in (item as object))).toMatchObject([{ count: 1 }]);
  });
});

describe('the hundred webhooks of an organization', () => {
  it('are a hundred', () => {
    expect(webhooksLimit).toBe(100);
  });

  it('have no room for another, of which nothing is written', async () => {
    await fill(100);
    const before = await dump();
    const refusal = await refusalOf(insert(newWebhook(['task.created', 'task.completed']), 'sealed'));
    expect(refusal?.code).toBe('limit_reached');
    expect(await dump()).toEqual(before);
  });

  it('have room for one again when one is deleted', async () => {
    const [first] = await fill(100);
    await store.delete(organization, first as Webhook);
    expect(await refusalOf(insert())).toBeUndefined();
    expect((await refusalOf(insert()))?.code).toBe('limit_reached');
    expect(await store.list(organization)).toHaveLength(100);
  });

  it('are filled up by exactly five of ten that come at once to ninety-five', async () => {
    await fill(95);
    const refusals = await Promise.all(Array.from({ length: 10 }, () => refusalOf(insert())));
    expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(5);
    expect(refusals.filter((refusal) => refusal?.code === 'limit_reached')).toHaveLength(5);
    expect(await store.list(organization)).toHaveLength(100);
    expect(await store.hearing(organization, 'task.created')).toHaveLength(100);
  });

  it('are nobody else’s', async () => {
    await fill(100);
    organization = `${organization}x` as Organization;
    expect(await refusalOf(insert())).toBeUndefined();
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import {
  leaseSlowAttempt,
  markWebhookSlow,
  type Pace,
  updatePace,
} from '../../../lib/table/deliveries/webhook-attempts.ts';
import { insertWebhook, readTarget, readWebhook, removeWebhook } from '../../../lib/table/deliveries/webhooks.ts';
import { dumpOf } from '../../table-dump.ts';
import { meter } from '../fixtures/capacity.ts';
import { createTestTable } from '../tasks/test-table.ts';

const board = await createTestTable();
const { costOf } = meter(board.table);
let organization: Organization;
let organizations = 0;
let webhook: Webhook;

async function insert(): Promise<Webhook> {
  const [id, createdAt] = [`wh_${board.app.ulid()}`, new Date(board.clock()).toISOString()];
  const one: Webhook = { id, url: 'https://example.com/', events: ['task.created'], active: true, createdAt };
  await insertWebhook(board, organization, one, undefined, undefined);
  return one;
}

beforeEach(async () => {
  organization = `${board.organization}-${++organizations}` as Organization;
  webhook = await insert();
});

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 12) + seconds * 1000).toISOString();
/** Writes the pace of the webhook after an attempt that has found it slow, or quick. */
const pace = (slow: boolean, found: Pace) => updatePace(board, organization, webhook.id, { slow }, found);
const target = () => readTarget(board, organization, webhook.id);

describe('the pace of a webhook after an attempt', () => {
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

  it('makes no webhook of one that is deleted', async () => {
    await removeWebhook(board, organization, webhook);
    const before = await dumpOf(board.table, organization);
    await pace(false, { slow: true });
    await pace(true, { slow: false, slowLease: 0 });
    expect(await dumpOf(board.table, organization)).toEqual(before);
  });
});

describe('a webhook with a slow receiver', () => {
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

  it('is marked as slow, unless it is deleted', async () => {
    await markWebhookSlow(board, organization, webhook.id);
    expect((await target())?.slow).toBe(true);
    await removeWebhook(board, organization, webhook);
    await markWebhookSlow(board, organization, webhook.id);
    const lease = { number: 0, now: at(0), until: at(20) };
    expect(await leaseSlowAttempt(board, organization, webhook.id, lease)).toBe(false);
    expect(await readWebhook(board, organization, webhook.id)).toBeUndefined();
  });
});

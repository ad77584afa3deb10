import { expect, it } from 'vitest';
import { ApiError } from '../../../lib/contract/errors.ts';
import { timestamp, ulidFrom } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { type AttemptFilter, maxFilteredAttempts } from '../../../lib/contract/webhooks/webhooks.ts';
import { insertAttempt } from '../../../lib/table/deliveries/attempt-log.ts';
import { readFilteredAttempts } from '../../../lib/table/deliveries/filtered-history.ts';
import { meter } from '../fixtures/capacity.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';
import { attemptFor, newMessage, webhookId } from './attempt-seed.ts';

const { table } = await createTestTable();
const { costOf } = meter(table);
const context = { table, batchers: {} };
const now = Date.parse('2026-03-01T12:00:00.000Z');
/** Two attempts more than a filtered list reads. */
const attempts = maxFilteredAttempts + 2;

/** Writes the attempts, one each `apartMs` up to now. The oldest ten and the newest ten failed. */
async function writeAttempts(apartMs: number): Promise<Organization> {
  const organization = newOrganization();
  const write = (nth: number) => {
    const time = now - nth * apartMs;
    const deliveryId = `dlv_${ulidFrom(time, new Uint8Array(10))}`;
    const message = newMessage(organization, { deliveryId, dueAt: timestamp(time) });
    const failed = nth < 10 || nth >= attempts - 10;
    return insertAttempt(context, attemptFor(message, failed ? { error: 'It failed.' } : {}));
  };
  // All at once, the last request to another engine would wait for longer than its time.
  for (let nth = 0; nth < attempts; nth += 500)
    await Promise.all(Array.from({ length: Math.min(500, attempts - nth) }, (_, of) => write(nth + of)));
  return organization;
}

const organization = await writeAttempts(1000);
const read = (filter: AttemptFilter, offset = 0, of = organization) =>
  readFilteredAttempts({ table, clock: () => now }, of, webhookId, { limit: 20, offset, ...filter });

it('without `since` a list has the matching attempts of the newest 10,000, and their number', async () => {
  const { items, total } = await read({ status: 'failed' });
  expect([items.length, total]).toEqual([18, 18]);
  expect((await read({ status: 'delivered' }, maxFilteredAttempts - 19)).items).toHaveLength(1);
  expect(await read({ status: 'failed', until: now - 500_000 })).toMatchObject({ total: 10 });
});

it('with `since` a list has the whole range, or the error names the earliest `since` that works', async () => {
  const error = await read({ status: 'failed', since: 0 }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 'range_too_large', status: 422, message: /10,000 attempts/ });
  const { path, message } = error.details[0];
  expect(path).toBe('since');
  const named = Date.parse(/\S+Z/.exec(message)?.[0] as string);
  expect(await read({ status: 'failed', since: named })).toMatchObject({ total: 10 });
  await expect(read({ status: 'failed', since: named - 1 })).rejects.toMatchObject({ code: 'range_too_large' });
});

it('with `since` there is an error also if no later time works, because there are more than 10,000 in a minute', async () => {
  const busy = await writeAttempts(6);
  const message =
    'This range has more than 10,000 attempts within three minutes; leave since out to get the newest of them.';
  for (const until of [undefined, now])
    await expect(read({ since: now, until }, 0, busy)).rejects.toMatchObject({
      code: 'range_too_large',
      message,
      details: [],
    });
  expect(await read({ status: 'failed', until: now }, 0, busy)).toMatchObject({ total: 18 });
});

it('at most 900 read units are used for small rows, also by the error and at the last offset', async () => {
  const all = [{ status: 'failed' }, { event: 'agent.failed', until: now }, { since: 0 }] as const;
  for (const [nth, filter] of all.entries()) {
    const { rcu, requests } = await costOf(() => read(filter, nth * maxFilteredAttempts).catch(() => {}));
    expect(rcu).toBeLessThanOrEqual(900);
    expect(requests).toBeLessThanOrEqual(12);
  }
});

import { expect, it } from 'vitest';
import { timestamp, ulidFrom } from '../../../lib/contract/ids.ts';
import { maxFilteredAttempts } from '../../../lib/contract/webhooks/webhooks.ts';
import { insertAttempt } from '../../../lib/table/deliveries/attempt-log.ts';
import { errorOf, paginationOf, statusAndCodeOf } from '../../api.ts';
import { attemptFor, newMessage } from '../../table/deliveries/attempt-seed.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers();

it('a filtered history has an error for a range of more than 10,000 attempts, which names the time that works', async () => {
  const caller = await newWebhookCaller();
  const id = await caller.put();
  const end = Date.now();
  const context = { table: service.table, batchers: {} };
  const seeds = Array.from({ length: maxFilteredAttempts + 1 }, (_, nth) => {
    const dueAt = timestamp(end - nth * 1000);
    const deliveryId = `dlv_${ulidFrom(Date.parse(dueAt), new Uint8Array(10))}`;
    return newMessage(caller.organization, { webhookId: id, deliveryId, dueAt });
  });
  await Promise.all(seeds.map((message) => insertAttempt(context, attemptFor(message))));
  const before = await caller.dump();
  const answer = await caller.deliveries(id, 'status=delivered&since=2026-01-01T00:00:00Z');
  expect(statusAndCodeOf(answer)).toEqual([422, 'range_too_large']);
  const [{ path, code, message } = expect.fail('no detail')] = errorOf(answer).details ?? [];
  expect([path, code]).toEqual(['since', 'limit']);
  const [since] = /\S+Z/.exec(message) ?? [];
  const named = await caller.deliveries(id, `status=delivered&since=${since}`);
  // The attempts of the first two minutes ended before the named time.
  expect(paginationOf(named).total).toBe(maxFilteredAttempts - 120);
  const newest = await caller.deliveries(id, 'status=delivered');
  expect(paginationOf(newest).total).toBe(maxFilteredAttempts);
  expect(await caller.dump()).toEqual(before);
});

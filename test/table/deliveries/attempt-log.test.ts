import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { type AttemptPlace, attemptKey, retryOf } from '../../../lib/table/deliveries/attempt-items.ts';
import {
  beginAttempt,
  findAttempt,
  insertAttempt,
  lateAfterMs,
  placeOf,
  readNextAttempt,
  unlistAttempt,
} from '../../../lib/table/deliveries/attempt-log.ts';
import { appendEvent } from '../../../lib/table/events/event-log.ts';
import { deliveryPartitions } from '../../../lib/table/lists/delivery-partitions.ts';
import { dueEntry, postponeDue, readDue } from '../../../lib/table/lists/due.ts';
import { insertWebhook } from '../../../lib/table/webhooks/webhooks.ts';
import { meter } from '../fixtures/capacity.ts';
import { dumpOf } from '../fixtures/table-dump.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';
import { attemptFor, newMessage, webhookId } from './attempt-seed.ts';

const { table } = await createTestTable();
const { costOf } = meter(table);
const context = { table, batchers: {}, ownsLogs: false };
const opening = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number) => timestamp(opening + seconds * 1000);
const eventId = `ev_${ulidFrom(opening, new Uint8Array(10))}`;
let organization: Organization;
let deliveries = 0;
let first: DeliveryMessage;

beforeEach(() => {
  organization = newOrganization();
  first = nextFirst();
});

/** Returns the message of the first attempt of a new delivery, due at `opening`. */
function nextFirst(): DeliveryMessage {
  const deliveryId = `dlv_${ulidFrom(opening, new Uint8Array(10).fill(++deliveries))}`;
  return newMessage(organization, { deliveryId, eventId, dueAt: at(0) });
}

/** Returns a retry that is due 300 s after `second`, and overdue a minute later. */
const retryAt = (second: number) => ({ dueAt: at(second + 300), listedFrom: at(second + 360) });
const rowAt = (place: AttemptPlace) => getItem(table, attemptKey(place));
const due = async (until: string) =>
  (await Array.fromAsync(readDue({ table }, deliveryPartitions, until))).filter(({ key }) =>
    key.pk.includes(`#${organization}#`),
  );

it('findAttempt returns the webhook with its secret and the event of an attempt that was not made', async () => {
  const webhook = { id: webhookId, url: 'https://example.com/', active: true, createdAt: at(0) };
  await insertWebhook({ table }, organization, { ...webhook, events: ['task.created'] }, 'ciphertext', undefined);
  const event = { event: 'task.created', item: 'tk_1', version: 1, data: '{}' } as const;
  await appendEvent(context, { organization, id: eventId, ...event });
  expect(await findAttempt(context, first)).toEqual({
    made: false,
    superseded: false,
    replaced: false,
    listed: false,
    target: { url: 'https://example.com/', slow: false, slowLeases: {}, encryptedSecret: 'ciphertext' },
    loggedEvent: expect.objectContaining({ event: 'task.created', data: '{}' }),
  });
});

it('findAttempt returns `made` for an attempt with a row, and for no other attempt', async () => {
  await insertAttempt(context, attemptFor(first, { retry: retryAt(0) }));
  const retry = retryOf((await rowAt(placeOf(first))) ?? {}) as DeliveryMessage;
  expect(await findAttempt(context, first)).toMatchObject({ made: true });
  expect(await findAttempt(context, retry)).toMatchObject({ made: false });
  expect(await findAttempt(context, nextFirst())).toMatchObject({ made: false });
});

it('findAttempt returns `superseded` for a retry that the row of the attempt before does not list', async () => {
  await insertAttempt(context, attemptFor(first, { retry: retryAt(0) }));
  const { sk: listedBy } = attemptKey(placeOf(first));
  const retryOn = (second: number) => findAttempt(context, { ...first, attempt: 2, dueAt: at(second), listedBy });
  expect([await retryOn(300), await retryOn(301)]).toMatchObject([{ superseded: false }, { superseded: true }]);
  await insertAttempt(context, attemptFor(first));
  expect(await retryOn(300)).toMatchObject({ superseded: true });
});

it('an attempt has one row, also if it is written twice, for each delivery, number and moment', async () => {
  const second = { ...first, attempt: 2, dueAt: at(300) };
  const messages = [first, nextFirst(), second, { ...second, dueAt: at(301) }, { ...second, attempt: 3 }];
  for (const message of messages)
    for (const error of ['', '', 'Another error.']) await insertAttempt(context, attemptFor(message, { error }));
  const rows = Object.keys(await dumpOf(table, organization)).filter((key) => key.includes(' A#'));
  expect(rows).toHaveLength(5);
});

it('an attempt is listed for the sweeper if it has a retry, with the fields of the message', async () => {
  const message = { ...first, requestId: 'request-1' };
  await insertAttempt(context, attemptFor(message, { retry: retryAt(0) }));
  expect(await due(at(359))).toEqual([]);
  const [overdue] = await due(at(360));
  const item = (overdue && (await postponeDue({ table }, overdue, at(660)))) ?? {};
  const listedBy = attemptKey(placeOf(first)).sk;
  expect(retryOf(item)).toEqual({ ...message, attempt: 2, dueAt: at(300), listedBy });
});

it('an attempt expires 90 days after the end of its day, also the start of a late attempt', async () => {
  await insertAttempt(context, attemptFor(first));
  await beginAttempt(context, nextFirst(), opening + 10 * lateAfterMs);
  const items = Object.values(await dumpOf(table, organization)) as { expiresAt: number }[];
  const expiresAt = Date.parse('2026-05-31T00:00:00.000Z') / 1000;
  expect(items.map((item) => item.expiresAt)).toEqual([expiresAt, expiresAt]);
});

it('unlistAttempt removes the failed attempt before from the list, and keeps its row', async () => {
  await insertAttempt(context, attemptFor(first, { retry: retryAt(0), error: 'It failed.' }));
  const row = (await rowAt(placeOf(first))) ?? {};
  await unlistAttempt(context, retryOf(row) as DeliveryMessage);
  expect(await due(at(1e9))).toEqual([]);
  const { due: entry, dueAt: listedAt, ...rest } = row;
  expect(await rowAt(placeOf(first))).toEqual(rest);
});

it('unlistAttempt creates no row for an attempt that has expired', async () => {
  await unlistAttempt(context, { ...first, attempt: 2, listedBy: attemptKey(placeOf(first)).sk });
  expect(await dumpOf(table, organization)).toEqual({});
});

describe('an attempt that begins', () => {
  /** The time from which no attempt that began in time can be in progress. */
  const late = opening + lateAfterMs + 30_000;
  const placeAt = (message: DeliveryMessage, time: number) => ({ place: placeOf(message, timestamp(time)) });

  /** Several workers begin the attempt, and get the place of one of them. */
  async function expectOnePlace(from: number): Promise<void> {
    const times = [0, 1, 2, 3].map((later) => from + later);
    const begun = await Promise.all(times.map((time) => beginAttempt(context, first, time)));
    expect(times.map((time) => placeAt(first, time))).toContainEqual(begun[0]);
    expect(begun).toEqual(begun.map(() => begun[0]));
  }

  it('in time has its due time as its place, without a request; a little late it waits', async () => {
    const cost = await costOf(async () => {
      for (const time of [opening, opening + lateAfterMs - 1])
        expect(await beginAttempt(context, first, time)).toEqual(placeAt(first, opening));
    });
    expect(cost).toMatchObject({ requests: 0 });
    for (const time of [opening + lateAfterMs, late - 1])
      expect(await beginAttempt(context, first, time)).toEqual({ notBefore: late });
    expect(await beginAttempt(context, first, late)).toEqual(placeAt(first, late));
  });

  it('late was made if an attempt that began in time has ended, or another worker has written its row', async () => {
    const other = nextFirst();
    await insertAttempt(context, attemptFor(first));
    await beginAttempt(context, other, late);
    await insertAttempt(context, attemptFor(other, { place: placeOf(other, timestamp(late)) }));
    expect(await beginAttempt(context, first, late)).toBe('made');
    for (const time of [late + 1, late + lateAfterMs, late + 10 * lateAfterMs])
      expect(await beginAttempt(context, other, time)).toBe('made');
  });

  it('late has its start as its place; several workers get the place of the first', async () => {
    await expectOnePlace(late);
  });

  it('late begins again if its worker is lost; several workers get the place of the first', async () => {
    await beginAttempt(context, first, late);
    expect(await beginAttempt(context, first, late + lateAfterMs - 1)).toEqual(placeAt(first, late));
    const again = late + lateAfterMs + 30_000;
    expect(await beginAttempt(context, first, late + lateAfterMs)).toEqual({ notBefore: again });
    await expectOnePlace(again);
  });
});

describe('the next attempt of a delivery', () => {
  it('follows the last failed attempt, also if attempts were late', async () => {
    let message = first;
    for (const attempt of [1, 2, 3]) {
      expect(message.attempt).toBe(attempt);
      const begun = Date.parse(message.dueAt) + (attempt === 2 ? 10 * lateAfterMs : 0);
      const { place } = (await beginAttempt(context, message, begun)) as { place: AttemptPlace };
      const retry = retryAt((begun - opening) / 1000);
      await insertAttempt(context, attemptFor(message, { place, retry, error: 'It failed.' }));
      message = (await readNextAttempt(context, first)) as DeliveryMessage;
      expect(message).toMatchObject({ deliveryId: first.deliveryId, eventId, dueAt: retry.dueAt });
    }
    expect(message.attempt).toBe(4);
  });

  it.each(['delivered', 'exhausted'])('does not exist if the delivery was %s', async (how) => {
    await insertAttempt(context, attemptFor(first, { retry: retryAt(0), error: 'It failed.' }));
    const second = (await readNextAttempt(context, first)) as DeliveryMessage;
    await insertAttempt(context, attemptFor(second, how === 'exhausted' ? { error: 'It failed.' } : {}));
    expect(await readNextAttempt(context, first)).toBeUndefined();
  });

  it('is still the first if the worker of a late attempt is lost', async () => {
    await beginAttempt(context, first, opening + 10 * lateAfterMs);
    expect(await readNextAttempt(context, first)).toEqual(first);
  });
});

describe('a delivery that began before the version with the attempt log', () => {
  const old = () => {
    const { eventId: _, ...message } = first;
    return message;
  };
  const putItem = async (fields: object) => {
    const key = keys.oldDelivery(organization, ulidOf(webhookId), ulidOf(first.deliveryId));
    const item = { id: first.deliveryId, event: 'task.created', data: '{}', ...dueEntry('0', at(60)), ...fields };
    await transact(table, [{ Put: { Item: { ...key, ...item } } }]);
    return key;
  };

  it.each([
    [1, true, 'the version before made it', { state: 'retrying', attempt: 2 }],
    [2, false, 'it is the next one', { state: 'retrying', attempt: 2 }],
    [1, true, 'it was delivered', { state: 'delivered', attempt: 1 }],
    [1, true, 'its last attempt failed', { state: 'exhausted', attempt: 4 }],
    [1, true, 'its webhook was deleted', { state: 'skipped', attempt: 1 }],
  ])('has its event in its item, and has made attempt %i: %s, if %s', async (attempt, made, _, fields) => {
    await putItem(fields);
    const found = await findAttempt(context, { ...old(), attempt });
    expect(found).toMatchObject(made ? { made } : { made, loggedEvent: { data: '{}' } });
  });

  it('has a retry that was not made after an attempt by this version', async () => {
    await putItem({ state: 'pending', attempt: 1 });
    await insertAttempt(context, attemptFor(old(), { retry: retryAt(0) }));
    expect(await findAttempt(context, old())).toMatchObject({ made: true });
    const retry = retryOf((await rowAt(placeOf(first))) ?? {}) as DeliveryMessage;
    expect(retry).not.toHaveProperty('eventId');
    expect(await findAttempt(context, retry)).toMatchObject({ made: false, loggedEvent: { data: '{}' } });
  });

  it('is removed from the sweeper’s list by its first attempt of this version, and its item stays', async () => {
    const key = await putItem({ state: 'retrying', attempt: 2 });
    await unlistAttempt(context, { ...old(), attempt: 2 });
    expect(await getItem(table, key)).toMatchObject({ state: 'retrying' });
    expect(await getItem(table, key)).not.toHaveProperty('due');
  });
});

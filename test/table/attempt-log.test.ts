import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidFrom, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { type AttemptPlace, attemptKey, retryOf } from '../../lib/table/attempt-items.ts';
import {
  beginAttempt,
  findAttempt,
  insertAttempt,
  lateAfterMs,
  placeOf,
  readNextAttempt,
  unlistAttempt,
} from '../../lib/table/attempt-log.ts';
import { deliveryPartitions } from '../../lib/table/delivery-partitions.ts';
import { dueEntry, postponeDue, readDue } from '../../lib/table/due.ts';
import { appendEvent } from '../../lib/table/event-log.ts';
import { keys } from '../../lib/table/keys.ts';
import { getItem } from '../../lib/table/reads.ts';
import { transact } from '../../lib/table/transact.ts';
import { insertWebhook } from '../../lib/table/webhooks.ts';
import { dumpOf } from '../table-dump.ts';
import { attemptFor, newMessage, webhookId } from './attempt-seed.ts';
import { openBoard } from './board.ts';
import { meter } from './capacity.ts';

const { table } = await openBoard();
const { costOf } = meter(table);
const context = { table, batchers: {} };
const opening = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number) => timestamp(opening + seconds * 1000);
const eventId = `ev_${ulidFrom(opening, new Uint8Array(10))}`;
let organization: Organization;
let organizations = 0;
let deliveries = 0;
let first: DeliveryMessage;

beforeEach(() => {
  organization = `own-${++organizations}-` as Organization;
  first = nextFirst();
});

/** The message of the first attempt of another delivery, which is due at the opening. */
function nextFirst(): DeliveryMessage {
  const deliveryId = `dlv_${ulidFrom(opening, new Uint8Array(10).fill(++deliveries))}`;
  return newMessage(organization, { deliveryId, eventId, dueAt: at(0) });
}

const putWebhook = async (encryptedSecret?: string) => {
  const webhook = { id: webhookId, url: 'https://example.com/', active: true, createdAt: at(0) };
  await insertWebhook({ table }, organization, { ...webhook, events: ['task.created'] }, encryptedSecret, undefined);
};
const appendFirst = () =>
  appendEvent(context, {
    organization,
    id: eventId,
    event: 'task.created',
    item: 'tk_1',
    version: 1,
    data: '{}',
  });

/** A retry that is due 300 s after a second, and overdue a minute later. */
const retryAt = (second: number) => ({ nextAttemptAt: at(second + 300), dueAt: at(second + 360) });
const rowAt = (place: AttemptPlace) => getItem(table, attemptKey(place));
const rows = async () => Object.keys(await dumpOf(table, organization)).filter((key) => key.includes(' A#'));
const due = async (until: string) =>
  (await Array.fromAsync(readDue({ table }, deliveryPartitions, until))).filter(({ key }) =>
    key.pk.includes(`#${organization}#`),
  );

describe('the items that an attempt needs', () => {
  it('are the webhook with its secret and the event of an attempt that was not made', async () => {
    await putWebhook('ciphertext');
    await appendFirst();
    expect(await findAttempt(context, first)).toEqual({
      made: false,
      superseded: false,
      target: { url: 'https://example.com/', slow: false, slowLeases: {}, encryptedSecret: 'ciphertext' },
      loggedEvent: expect.objectContaining({ event: 'task.created', data: '{}' }),
    });
  });

  it('finds that the attempt was made, and not that another one was', async () => {
    await insertAttempt(context, attemptFor(first, { retry: retryAt(0) }));
    const retry = retryOf((await rowAt(placeOf(first))) ?? {}) as DeliveryMessage;
    expect(await findAttempt(context, first)).toMatchObject({ made: true });
    expect(await findAttempt(context, retry)).toMatchObject({ made: false });
    expect(await findAttempt(context, nextFirst())).toMatchObject({ made: false });
  });

  it('finds that the webhook is deleted and that the event is no more', async () => {
    expect(await findAttempt(context, first)).toMatchObject({ made: false, target: undefined, loggedEvent: undefined });
  });

  it('finds that a retry is not what follows where the attempt before it was made twice', async () => {
    await insertAttempt(context, attemptFor(first, { retry: retryAt(0) }));
    const [retry, later] = [300, 301].map((second) => ({
      ...first,
      attempt: 2,
      dueAt: at(second),
      listedBy: attemptKey(placeOf(first)).sk,
    })) as [DeliveryMessage, DeliveryMessage];
    expect([await findAttempt(context, retry), await findAttempt(context, later)]).toMatchObject([
      { superseded: false },
      { superseded: true },
    ]);
    await insertAttempt(context, attemptFor(first));
    expect(await findAttempt(context, retry)).toMatchObject({ superseded: true });
  });

  it('is one request for all messages of the same moment, in which nothing is read twice', async () => {
    await putWebhook('ciphertext');
    await appendFirst();
    const messages = Array.from({ length: 10 }, nextFirst);
    const cost = await costOf(() => Promise.all(messages.map((message) => findAttempt(context, message))));
    // The webhook, its secret, the event, and a row for each attempt.
    expect(cost).toMatchObject({ requests: 1, rcu: 3 + 10 });
  });
});

describe('an attempt', () => {
  it('that is written twice is one row', async () => {
    await Promise.all([insertAttempt(context, attemptFor(first)), insertAttempt(context, attemptFor(first))]);
    await insertAttempt(context, attemptFor(first, { error: 'Another error.' }));
    expect(await rows()).toHaveLength(1);
  });

  it('has a row of its own for each delivery, number and moment', async () => {
    const second = { ...first, attempt: 2, dueAt: at(300) };
    for (const message of [first, nextFirst(), second, { ...second, dueAt: at(301) }, { ...second, attempt: 3 }])
      await insertAttempt(context, attemptFor(message));
    expect(await rows()).toHaveLength(5);
  });

  it('is listed for the sweeper while another is to follow, with all that its message needs', async () => {
    const message = { ...first, requestId: 'request-1' };
    await insertAttempt(context, attemptFor(message, { retry: retryAt(0) }));
    expect(await due(at(359))).toEqual([]);
    const [overdue] = await due(at(360));
    const item = (overdue && (await postponeDue({ table }, overdue, at(660)))) ?? {};
    const listedBy = attemptKey(placeOf(first)).sk;
    expect(retryOf(item)).toEqual({ ...message, attempt: 2, dueAt: at(300), listedBy });
  });

  it('is not listed where it is the last, and none follows', async () => {
    await insertAttempt(context, attemptFor(first));
    expect(await due(at(1e9))).toEqual([]);
    expect(retryOf((await rowAt(placeOf(first))) ?? {})).toBeUndefined();
  });

  it('expires when its whole day is 90 days ago', async () => {
    await insertAttempt(context, attemptFor(first));
    expect((await rowAt(placeOf(first)))?.expiresAt).toBe(Date.parse('2026-05-31T00:00:00.000Z') / 1000);
  });
});

describe('an entry of the list that is taken off it', () => {
  it('is that of the failed attempt before, whose row stays', async () => {
    await insertAttempt(context, attemptFor(first, { retry: retryAt(0), error: 'It failed.' }));
    const row = (await rowAt(placeOf(first))) ?? {};
    await unlistAttempt(context, retryOf(row) as DeliveryMessage);
    expect(await due(at(1e9))).toEqual([]);
    const { due: _, dueAt: __, ...rest } = row;
    expect(await rowAt(placeOf(first))).toEqual(rest);
  });

  it('is none of a first attempt, which asks the table nothing', async () => {
    expect(await costOf(() => unlistAttempt(context, first))).toMatchObject({ requests: 0 });
  });

  it('makes no row of one that has expired', async () => {
    await unlistAttempt(context, { ...first, attempt: 2, listedBy: attemptKey(placeOf(first)).sk });
    expect(await dumpOf(table, organization)).toEqual({});
  });
});

describe('an attempt that begins', () => {
  /** From this moment on nothing that began in time can be under way. */
  const late = opening + lateAfterMs + 30_000;
  const standsAt = (message: DeliveryMessage, time: number) => ({ place: placeOf(message, timestamp(time)) });

  it('in time stands at the moment when it was due, without a look at the table', async () => {
    const cost = await costOf(async () => {
      for (const time of [opening, opening + lateAfterMs - 1])
        expect(await beginAttempt(context, first, time)).toEqual(standsAt(first, opening));
    });
    expect(cost).toMatchObject({ requests: 0 });
  });

  it('a little late waits until nothing that began in time can be under way', async () => {
    for (const time of [opening + lateAfterMs, late - 1])
      expect(await beginAttempt(context, first, time)).toEqual({ notBefore: late });
    expect(await beginAttempt(context, first, late)).toEqual(standsAt(first, late));
  });

  it('late was made where one that began in time has ended meanwhile', async () => {
    await insertAttempt(context, attemptFor(first));
    expect(await beginAttempt(context, first, late)).toBe('made');
  });

  it('late stands at its beginning, as the first of several workers says for all', async () => {
    const begun = await Promise.all([0, 1, 2, 3].map((later) => beginAttempt(context, first, late + later)));
    expect([0, 1, 2, 3].map((later) => standsAt(first, late + later))).toContainEqual(begun[0]);
    expect(begun).toEqual(begun.map(() => begun[0]));
  });

  it('late was made where another worker has begun it and its row is there, however long ago', async () => {
    await beginAttempt(context, first, late);
    await insertAttempt(context, attemptFor(first, { place: placeOf(first, timestamp(late)) }));
    for (const time of [late + 1, late + lateAfterMs, late + 10 * lateAfterMs])
      expect(await beginAttempt(context, first, time)).toBe('made');
    expect(await rows()).toHaveLength(1);
  });

  it('late after a worker that was lost is begun anew, by one of several for all', async () => {
    await beginAttempt(context, first, late);
    expect(await beginAttempt(context, first, late + lateAfterMs - 1)).toEqual(standsAt(first, late));
    const again = late + lateAfterMs + 30_000;
    expect(await beginAttempt(context, first, late + lateAfterMs)).toEqual({ notBefore: again });
    const begun = await Promise.all([0, 1, 2].map((later) => beginAttempt(context, first, again + later)));
    expect([0, 1, 2].map((later) => standsAt(first, again + later))).toContainEqual(begun[0]);
    expect(begun).toEqual(begun.map(() => begun[0]));
  });

  it('late is another one for each attempt and delivery', async () => {
    await beginAttempt(context, first, late);
    for (const other of [nextFirst(), { ...first, attempt: 2 }])
      expect(await beginAttempt(context, other, late + 5)).toEqual(standsAt(other, late + 5));
  });

  it('late leaves nothing behind that stays for ever', async () => {
    await beginAttempt(context, first, late);
    const items = Object.values(await dumpOf(table, organization));
    expect(items).toEqual([expect.objectContaining({ expiresAt: Date.parse('2026-05-31T00:00:00.000Z') / 1000 })]);
  });
});

describe('the next attempt of a delivery', () => {
  it('is the first where none was made', async () => {
    expect(await readNextAttempt(context, first)).toEqual(first);
  });

  it('is the one after the last that failed, also where attempts were late', async () => {
    let message = first;
    for (const [attempt, late] of [
      [1, false],
      [2, true],
      [3, false],
    ] as const) {
      expect(message.attempt).toBe(attempt);
      const begun = Date.parse(message.dueAt) + (late ? 10 * lateAfterMs : 0);
      const { place } = (await beginAttempt(context, message, begun)) as { place: AttemptPlace };
      const retry = retryAt((begun - opening) / 1000);
      await insertAttempt(context, attemptFor(message, { place, retry, error: 'It failed.' }));
      message = (await readNextAttempt(context, first)) as DeliveryMessage;
      expect(message).toMatchObject({ deliveryId: first.deliveryId, eventId, dueAt: retry.nextAttemptAt });
    }
    expect(message.attempt).toBe(4);
  });

  it.each(['delivered', 'exhausted'])('is none where it was %s', async (how) => {
    await insertAttempt(context, attemptFor(first, { retry: retryAt(0), error: 'It failed.' }));
    const second = (await readNextAttempt(context, first)) as DeliveryMessage;
    await insertAttempt(context, attemptFor(second, how === 'exhausted' ? { error: 'It failed.' } : {}));
    expect(await readNextAttempt(context, first)).toBeUndefined();
  });

  it('is not made by a worker that has begun late and was lost', async () => {
    await beginAttempt(context, first, opening + 10 * lateAfterMs);
    expect(await readNextAttempt(context, first)).toEqual(first);
  });
});

describe('a delivery that the version before the log has begun', () => {
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

  it('has its event in its item, and the attempt that it waits for was not made', async () => {
    await putItem({ state: 'retrying', attempt: 2 });
    expect(await findAttempt(context, { ...old(), attempt: 2 })).toMatchObject({
      made: false,
      loggedEvent: { data: '{}' },
    });
  });

  it.each([
    ['that version has made it', { state: 'retrying', attempt: 2 }],
    ['it was delivered', { state: 'delivered', attempt: 1 }],
    ['its last attempt failed', { state: 'exhausted', attempt: 4 }],
    ['its webhook was deleted', { state: 'skipped', attempt: 1 }],
  ])('has its attempt made where %s', async (_, fields) => {
    await putItem(fields);
    expect(await findAttempt(context, old())).toMatchObject({ made: true });
  });

  it('has the attempt after one that this version made not made', async () => {
    await putItem({ state: 'pending', attempt: 1 });
    await insertAttempt(context, attemptFor(old(), { retry: retryAt(0) }));
    expect(await findAttempt(context, old())).toMatchObject({ made: true });
    const retry = retryOf((await rowAt(placeOf(first))) ?? {}) as DeliveryMessage;
    expect(retry).not.toHaveProperty('eventId');
    expect(await findAttempt(context, retry)).toMatchObject({ made: false, loggedEvent: { data: '{}' } });
  });

  it('is taken off the sweeper’s list by its first attempt of this version, and its item stays', async () => {
    const key = await putItem({ state: 'retrying', attempt: 2 });
    await unlistAttempt(context, { ...old(), attempt: 2 });
    expect(await getItem(table, key)).toMatchObject({ state: 'retrying' });
    expect(await getItem(table, key)).not.toHaveProperty('due');
  });
});

import type { ServerResponse } from 'node:http';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { AttemptDetail, Delivery } from '../../../lib/contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { getDelivery } from '../../../lib/webhooks/delivery-details.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { rotateWebhookSecret } from '../../../lib/webhooks/secret-rotation.ts';
import { testWebhook } from '../../../lib/webhooks/test-delivery.ts';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { closedPort, type Receiver, startReceiver, startSocket } from '../../sender/receiver.ts';
import { prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const dayMs = 24 * 60 * 60_000;
const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const detailsOf = ({ webhookId, deliveryId }: Pick<DeliveryMessage, 'webhookId' | 'deliveryId'>) =>
  getDelivery(webhooks, webhooks.organization, { webhookId, deliveryId });

/** Publishes an event for a webhook with a receiver, and returns the message of the first attempt. */
const messageFor = (url: string, fields: object = { secret: 'a secret' }) => webhooks.message({ url, ...fields });

/** Makes the attempt of a message over a socket, and returns the message of the retry, if there is one. */
async function attempt(message: DeliveryMessage): Promise<DeliveryMessage | undefined> {
  const before = webhooks.queue.sent.length;
  await deliverWebhook(webhooks, message);
  return webhooks.queue.sent[before]?.message;
}

/** Makes the first attempt to deliver to a receiver, and returns its details and the details of the delivery. */
async function attempted(url: string): Promise<Delivery & { attempt: AttemptDetail }> {
  const message = await messageFor(url);
  await attempt(message);
  const details = await detailsOf(message);
  expect(details.attempts).toHaveLength(1);
  return { ...details, attempt: details.attempts[0] as AttemptDetail };
}

const answering = (answer: (response: ServerResponse) => void) => startReceiver(answer);

/** Returns the headers of a received request without its signatures, and requires that there is a signature. */
function unsigned({ headers }: Receiver['received'][number]): Record<string, string> {
  const entries = Object.entries(headers);
  const others = entries.filter(([name]) => !/signature/.test(name));
  expect(others.length).toBeLessThan(entries.length);
  return Object.fromEntries(others);
}

const inLowerCase = (headers: Record<string, string> | null) =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));

describe('the details of a delivered delivery', () => {
  it('have the body and the headers that the receiver got, without signatures, and its response', async () => {
    const receiver = await answering((response) =>
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Set-Cookie': ['a=1', 'b=2'] }).end('Grüße 🚀'),
    );
    const { attempt, ...delivery } = await attempted(receiver.url);
    const [received = expect.fail('nothing arrived')] = receiver.received;
    expect(delivery).toMatchObject({ state: 'delivered', event: 'task.created', body: received.raw.toString('utf8') });
    expect(delivery).not.toHaveProperty('nextAttemptAt');
    expect(delivery.eventId).toMatch(/^ev_/);
    expect(inLowerCase(attempt.requestHeaders)).toEqual(unsigned(received));
    expect(attempt).toMatchObject({
      ...{ attempt: 1, httpStatus: 200, redelivery: false, address: '127.0.0.1' },
      responseHeaders: { 'content-type': 'text/plain', 'set-cookie': '(not stored)' },
      ...{ responseBody: 'Grüße 🚀', truncated: false },
    });
    expect(Object.keys(attempt.phases ?? {})).toEqual(['connect', 'firstByte']);
    expect(JSON.stringify(delivery)).not.toMatch(/sha256=|v1,|a secret/);
  });

  it.each(['{"a":1}', 'Grüße\u2028 🚀', '\u0000\u001f"\\/</script>', '__proto__'])(
    'have the bytes of the body, whatever the event contains: %j',
    async (title) => {
      const receiver = await startReceiver();
      const change = webhooks.change();
      const data = { task: { id: change.item, title, status: 'backlog' as const }, occurredAt: timestamp(startTime) };
      await webhooks.register({ url: receiver.url });
      const [message] = await webhooks.publish({ ...change, events: [{ event: 'task.created', data }] });
      await attempt(message as DeliveryMessage);
      const { body, attempts } = await detailsOf(message as DeliveryMessage);
      expect(Buffer.from(body ?? '')).toEqual(receiver.received[0]?.raw);
      expect(inLowerCase(attempts[0]?.requestHeaders ?? null)).toEqual(receiver.received[0]?.headers);
    },
  );

  it('have an empty response body, and no headers, after an empty 2xx', async () => {
    const { attempt } = await attempted((await startReceiver()).url);
    expect(attempt).toMatchObject({ httpStatus: 204, responseHeaders: null, responseBody: '', truncated: false });
  });

  it('have no signature during the overlap of a rotation either', async () => {
    const receiver = await startReceiver();
    const message = await messageFor(receiver.url);
    const rotation = { id: message.webhookId, secret: 'the next secret', overlapSeconds: 60 };
    await rotateWebhookSecret(webhooks, webhooks.organization, rotation, undefined);
    await attempt(message);
    const { attempts } = await detailsOf(message);
    expect(receiver.received[0]?.headers).toHaveProperty('x-service-signature-previous');
    expect(inLowerCase(attempts[0]?.requestHeaders ?? null)).toEqual(unsigned(receiver.received[0] as never));
  });
});

describe('the response of an attempt', () => {
  it('has the first 4 KiB of a body of 10 KiB', async () => {
    const { url } = await answering((response) => response.writeHead(500).end('a'.repeat(10 * 1024)));
    const { attempt, state } = await attempted(url);
    expect(state).toBe('retrying');
    expect(attempt).toMatchObject({ httpStatus: 500, responseBody: 'a'.repeat(4096), truncated: true });
  });

  it.each([
    ['whole at exactly 4 KiB', 'a'.repeat(4096), 'a'.repeat(4096), false],
    ['not cut inside a character', `a${'🚀'.repeat(1024)}`, `a${'🚀'.repeat(1023)}`, true],
  ])('is %s', async (_, sent, responseBody, truncated) => {
    const { url } = await answering((response) => response.end(sent));
    expect((await attempted(url)).attempt).toMatchObject({ responseBody, truncated });
  });

  it('has a replacement for invalid UTF-8', async () => {
    const { url } = await answering((response) => response.end(Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x62])));
    expect((await attempted(url)).attempt).toMatchObject({ responseBody: 'a\ufffd\ufffd(b', truncated: false });
  });

  it('is truncated if the receiver closes the connection before its end', async () => {
    const { url } = await startSocket((connection) =>
      connection.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na start'),
    );
    expect((await attempted(url)).attempt).toMatchObject({ responseBody: 'a start', truncated: true });
  });

  it('has the headers of a redirect, which is not followed', async () => {
    const { url } = await answering((response) => response.writeHead(307, { Location: 'https://a.example/' }).end());
    const { attempt, state } = await attempted(url);
    expect([state, attempt.error]).toEqual(['retrying', 'The receiver answered 307.']);
    expect(attempt).toMatchObject({ responseHeaders: { location: 'https://a.example/' }, responseBody: '' });
  });

  it.each([
    [401, undefined, 'unsigned'],
    [403, undefined, 'unsigned'],
    [400, undefined, undefined],
    [401, 'a secret', undefined],
  ])('that got %d without a signature says so (secret: %s)', async (status, secret, hint) => {
    const { url } = await answering((response) => response.writeHead(status).end());
    const message = await webhooks.message({ url, secret });
    await attempt(message);
    expect((await detailsOf(message)).attempts.map((one) => one.hint)).toEqual([hint]);
  });

  it('has the first 50 headers, of 2 KiB at most, and those with the same name joined', async () => {
    const many = Array.from({ length: 60 }, (_, nth) => [`x-${String(nth).padStart(2, '0')}`, 'v']).flat();
    const { url } = await startSocket((connection) => {
      const lines = [...many.keys()].filter((at) => at % 2 === 0).map((at) => `${many[at]}: ${many[at + 1]}\r\n`);
      const other = `x-long: ${'l'.repeat(4096)}\r\n__proto__: p\r\nX-Twice: 1\r\nx-twice: 2\r\n`;
      connection.end(`HTTP/1.1 500 No\r\n${other}${lines.join('')}\r\n`);
    });
    const { responseHeaders } = (await attempted(url)).attempt;
    const names = Object.keys(responseHeaders ?? {});
    expect(names).toHaveLength(50);
    expect(names.slice(0, 3)).toEqual(['__proto__', 'x-twice', 'x-00']);
    expect(Object.entries(responseHeaders ?? {}).slice(0, 2)).toEqual([
      ['__proto__', 'p'],
      ['x-twice', '1, 2'],
    ]);
  });
});

describe('an attempt without a response', () => {
  const none = { httpStatus: 0, responseHeaders: null, responseBody: null };

  it('has the address that refused the connection', async () => {
    const { attempt, body } = await attempted(`http://127.0.0.1:${await closedPort()}/`);
    expect(attempt).toMatchObject({ ...none, address: '127.0.0.1', error: 'The receiver refused the connection.' });
    expect(attempt).not.toHaveProperty('phases');
    expect(attempt).not.toHaveProperty('truncated');
    expect(JSON.parse(body ?? '')).toMatchObject({ event: 'task.created' });
  });

  it('has the phases before its deadline', async () => {
    const receiver = await startReceiver(() => {});
    const message = await messageFor(receiver.url);
    const made = attempt(message);
    await receiver.next(1);
    for (const { afterMs, fire } of webhooks.timers) if (afterMs === 10_000) fire();
    await made;
    const [timedOut] = (await detailsOf(message)).attempts;
    expect(timedOut).toMatchObject({ ...none, error: 'No answer within 10 s.' });
    expect(Object.keys(timedOut?.phases ?? {})).toEqual(['connect']);
  });

  it('has no address if the URL is not allowed', async () => {
    const { attempt } = await attempted('https://localhost/');
    expect(attempt).toMatchObject({ ...none, error: expect.stringMatching(/^Not sent: /) });
    expect(attempt).not.toHaveProperty('address');
  });
});

describe('the details of a delivery', () => {
  it('have the event and no attempt before the first one', async () => {
    const message = await messageFor((await startReceiver()).url);
    const { webhookId: _, deliveryId, eventId, dueAt } = message;
    expect(await detailsOf(message)).toEqual({
      ...{ deliveryId, eventId, event: 'task.created', state: 'pending', nextAttemptAt: dueAt },
      ...{ body: null, attempts: [] },
    });
  });

  it('say that the event was skipped if the webhook was paused then', async () => {
    const message = await messageFor((await startReceiver()).url);
    await webhooks.table.client.send(
      new UpdateCommand({
        TableName: webhooks.table.name,
        Key: keys.webhook(webhooks.organization, ulidOf(message.webhookId)),
        UpdateExpression: 'SET pauses = :pauses',
        ExpressionAttributeValues: { ':pauses': [{ from: timestamp(startTime) }] },
      }),
    );
    const details = await detailsOf(message);
    expect(details).toMatchObject({ state: 'skipped', body: null, attempts: [] });
    expect(details).not.toHaveProperty('nextAttemptAt');
  });

  it('have every attempt, the time of the next one, and the body of the last one', async () => {
    const receiver = await answering((response) => response.writeHead(503).end(`try ${receiver.received.length}`));
    const states: unknown[] = [];
    let next: DeliveryMessage | undefined = await messageFor(receiver.url);
    const first = next;
    while (next) {
      webhooks.clock.now = Date.parse(next.dueAt);
      next = await attempt(next);
      const { state, nextAttemptAt, body, attempts } = await detailsOf(first);
      expect(body).toBe(receiver.received.at(-1)?.raw.toString('utf8'));
      expect(nextAttemptAt).toBe(next?.dueAt);
      states.push([state, attempts.map(({ responseBody }) => responseBody)]);
    }
    expect(states).toEqual([
      ['retrying', ['try 1']],
      ['retrying', ['try 1', 'try 2']],
      ['retrying', ['try 1', 'try 2', 'try 3']],
      ['exhausted', ['try 1', 'try 2', 'try 3', 'try 4']],
    ]);
  });

  it('have a redelivery, also before its attempt', async () => {
    const receiver = await startReceiver();
    const message = await messageFor(receiver.url);
    const { webhookId, deliveryId } = message;
    await attempt(message);
    webhooks.clock.now += 1_000;
    await redeliverDelivery(webhooks, webhooks.organization, { webhookId, deliveryId }, undefined);
    const requested = { state: 'pending', nextAttemptAt: timestamp(webhooks.clock()), attempts: [{ attempt: 1 }] };
    expect(await detailsOf(message)).toMatchObject(requested);
    const before = webhooks.queue.sent.length;
    // A sweep is over the whole table.
    await sweepDeliveries(webhooks, { until: webhooks.clock() });
    for (const { message: sent } of webhooks.queue.sent.slice(before))
      if (sent.deliveryId === deliveryId) await attempt(sent);
    const details = await detailsOf(message);
    expect(details).toMatchObject({ state: 'delivered', attempts: [{ attempt: 1 }, { attempt: 2, redelivery: true }] });
    expect(details.body).toBe(receiver.received[1]?.raw.toString('utf8'));
  });

  it('of a test event have its body, which is in no event log', async () => {
    const receiver = await answering((response) => response.writeHead(418).end('short and stout'));
    const { id: webhookId } = await webhooks.register({ url: receiver.url, secret: 'a secret' });
    const { organization } = webhooks;
    const { deliveryId } = await testWebhook(webhooks, organization, { webhookId, event: 'agent.failed' }, undefined);
    const details = await detailsOf({ webhookId, deliveryId });
    expect(details).toMatchObject({ state: 'exhausted', event: 'agent.failed', test: true });
    expect(details).not.toHaveProperty('eventId');
    expect(details.body).toBe(receiver.received[0]?.raw.toString('utf8'));
    expect(details.attempts).toMatchObject([{ test: true, httpStatus: 418, responseBody: 'short and stout' }]);
    expect(inLowerCase(details.attempts[0]?.requestHeaders ?? null)).toEqual(unsigned(receiver.received[0] as never));
  });

  it('are not found after the deletion of the webhook', async () => {
    const message = await messageFor((await startReceiver()).url);
    await attempt(message);
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId, () => {});
    await expect(detailsOf(message)).rejects.toMatchObject({ code: 'not_found', message: /no such webhook/ });
  });
});

describe('bodies and responses', () => {
  const afterDays = async (days: number, responseDays?: number) => {
    if (responseDays) webhooks.responseDays = responseDays;
    const { url } = await answering((response) => response.end('fine'));
    const message = await messageFor(url);
    await attempt(message);
    webhooks.clock.now += days * dayMs - 1;
    const before = await detailsOf(message);
    webhooks.clock.now += 1;
    return { message, before, after: await detailsOf(message) };
  };

  it.each([
    ['7 days', 7, undefined],
    ['the days of the setting', 2, 2],
  ])('are kept for %s, and the rest for longer', async (_, days, responseDays) => {
    const { before, after } = await afterDays(days, responseDays);
    expect(before.body).toMatch(/^\{"event":"task.created"/);
    expect(before.attempts).toMatchObject([{ responseBody: 'fine', truncated: false }]);
    const { truncated: _truncated, ...kept } = before.attempts[0] as AttemptDetail;
    const attempts = [{ ...kept, responseHeaders: null, responseBody: null }];
    expect(after).toEqual({ ...before, body: null, attempts });
  });

  it('expire in the table, each as an item of its own', async () => {
    const { message } = await afterDays(7);
    const items = Object.entries(await webhooks.dump()).filter(([key]) => key.includes('#WB#'));
    expect(items).toHaveLength(1);
    expect(items[0]?.[0]).toContain(`#WB#${ulidOf(message.webhookId)}`);
    expect(items[0]?.[1]).toMatchObject({ body: 'fine', expiresAt: (startTime + 7 * dayMs) / 1000 });
  });
});

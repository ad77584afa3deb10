import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../lib/context/context.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { idleMs } from '../../../lib/sender/kept-connections.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { getDelivery } from '../../../lib/webhooks/delivery-details.ts';
import { dynamodbLocal } from '../../dynamodb-local/endpoint.ts';
import { expectClosed, openedSockets, startReceiver } from '../../sender/receiver.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
const sockets = openedSockets();
/** The port of the table of another engine, whose connections last. */
const portOfTable = dynamodbLocal && new URL(dynamodbLocal).port;
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

/** Publishes events, and returns the messages of their first attempts. */
async function messagesOf(events: number): Promise<DeliveryMessage[]> {
  const published = [];
  for (let nth = 0; nth < events; nth++) published.push(await webhooks.publish());
  return published.flat();
}

/** Makes the attempts of one batch, and expects that no connection remains. */
async function deliverBatch(messages: DeliveryMessage[], context: Context = webhooks) {
  const opened = sockets.length;
  const ended = await Promise.allSettled(messages.map((message) => deliverWebhook(context, message)));
  const open = sockets
    .slice(opened)
    .filter(({ destroyed, remotePort }) => !destroyed && `${remotePort}` !== portOfTable);
  expect(open).toEqual([]);
  expect(context.keptConnections.size).toBe(0);
  return ended;
}

describe('the attempts of a batch', () => {
  it('for one webhook, of which five run at the same time, use five connections for ten deliveries', async () => {
    const receiver = await startReceiver();
    await webhooks.register({ url: receiver.url });
    await deliverBatch(await messagesOf(10));
    expect(new Set(receiver.received.map(({ body }) => body.deliveryId)).size).toBe(10);
    expect(receiver.connections).toHaveLength(5);
    await expectClosed(receiver);
  });

  it('for two webhooks of one receiver share no connection', async () => {
    const receiver = await startReceiver();
    for (const path of ['1', '2']) await webhooks.register({ url: `${receiver.url}/${path}` });
    await deliverBatch(await messagesOf(10));
    expect(receiver.received).toHaveLength(20);
    expect(receiver.connections).toHaveLength(10);
  });

  it('ask for a connection that is kept if there are several, and their details say so', async () => {
    const receiver = await startReceiver();
    const { id: webhookId } = await webhooks.register({ url: receiver.url });
    await deliverBatch(await messagesOf(2));
    await deliverBatch(await messagesOf(1));
    const asked = receiver.received.map(({ headers }) => headers.connection);
    expect(asked).toEqual(['keep-alive', 'keep-alive', 'close']);
    for (const { headers, body } of receiver.received) {
      const { attempts } = await getDelivery(webhooks, webhooks.organization, {
        webhookId,
        deliveryId: body.deliveryId,
      });
      expect(attempts[0]?.requestHeaders).toMatchObject({ Connection: headers.connection });
    }
  });

  it('leave no connection open if their results cannot be stored', async () => {
    const receiver = await startReceiver();
    await webhooks.register({ url: receiver.url });
    const messages = await messagesOf(7);
    const table = interceptTable(webhooks.table, async (request, { input }) => {
      if (/"httpStatus"/.test(JSON.stringify(input))) throw new Error('The table is full.');
      return request();
    });
    const ended = await deliverBatch(messages, { ...webhooks.createContainer(), table });
    expect(ended.map(({ status }) => status)).toEqual(Array(7).fill('rejected'));
    expect(receiver.received).toHaveLength(7);
    await expectClosed(receiver);
  });
});

describe('attempts that follow one another on one machine', () => {
  it('use one connection, which is closed when it was idle for 100 ms', async () => {
    const receiver = await startReceiver();
    await webhooks.register({ url: receiver.url });
    const context = { ...webhooks.createContainer(), ownsLogs: true };
    for (const message of await messagesOf(3)) await deliverWebhook(context, message);
    expect(receiver.received.map(({ headers }) => headers.connection)).toEqual(Array(3).fill('keep-alive'));
    expect(receiver.connections).toHaveLength(1);
    const idle = webhooks.timers.filter(({ afterMs }) => afterMs === idleMs);
    expect(idle.map(({ stopped }) => stopped)).toEqual([true, true, false]);
    idle.at(-1)?.fire();
    await expectClosed(receiver);
    await expect.poll(() => context.keptConnections.size).toBe(0);
  });

  it('leave nothing behind if the receiver closes its connections', async () => {
    const receiver = await startReceiver((response) => response.writeHead(204, { Connection: 'close' }).end());
    await webhooks.register({ url: receiver.url });
    const context = { ...webhooks.createContainer(), ownsLogs: true };
    for (const message of await messagesOf(2)) await deliverWebhook(context, message);
    expect(receiver.connections).toHaveLength(2);
    expect(context.keptConnections.size).toBe(0);
  });
});

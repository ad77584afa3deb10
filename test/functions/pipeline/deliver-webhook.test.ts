import { createHmac } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { listDeliveries } from '../../../lib/webhooks/webhooks.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { consume } from './call-functions.ts';
import { createTestPipeline } from './test-pipeline.ts';

const { organization, register, receive, publishTask } = await createTestPipeline();
vi.spyOn(processContext().log, 'error').mockImplementation(() => {});

it('deliver-webhook posts the event, signed in both ways over the bytes that arrive, and records the attempt', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const { url, received } = await startReceiver();
  const { id } = await register(url, ['task.created'], secret);
  await publishTask('Grüße 🚀');
  const [message = ''] = await receive();
  // A message that is invalid fails alone.
  expect(await consume('deliverWebhook', '{}', message)).toEqual(['message-0']);

  const [{ method, path, headers, raw } = { headers: {}, raw: Buffer.alloc(0) }, ...more] = received;
  expect([method, path, headers['content-type'], more]).toEqual(['POST', '/hooks', 'application/json', []]);
  const { deliveryId } = JSON.parse(message);
  const body = JSON.parse(raw.toString('utf8'));
  expect(Object.keys(body)).toEqual(['event', 'deliveryId', 'timestamp', 'data']);
  expect(body).toMatchObject({ event: 'task.created', deliveryId, data: { task: { title: 'Grüße 🚀' } } });
  const hmac = createHmac('sha256', Buffer.from(secret, 'utf8')).update(raw).digest('hex');
  expect(headers).toMatchObject({
    'x-service-event': 'task.created',
    'x-service-delivery': deliveryId,
    'x-service-timestamp': String(Math.floor(Date.parse(body.timestamp) / 1000)),
    'x-service-signature': `sha256=${hmac}`,
  });
  const standard = new StandardWebhook(secret);
  expect(standard.verify(raw.toString('utf8'), headers as Record<string, string>)).toEqual(body);
  const { items } = await listDeliveries(processContext(), organization, id, { limit: 100, offset: 0 });
  expect(items).toMatchObject([{ id: deliveryId, httpStatus: 204, redelivery: false }]);
});

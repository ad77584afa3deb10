import { expect, it } from 'vitest';
import type { Delivery } from '../../../lib/contract/webhooks/webhooks.ts';
import { successOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';

const environment = { RETRY_LADDER: '1,1,1' };

it('the details of a delivery show each attempt of a receiver that recovers, also after the service is killed', async () => {
  const service = await startDeployment({ environment });
  const receiver = await startReceiver((response) => {
    const nth = receiver.received.length;
    if (nth === 1) response.writeHead(500, { 'Retry-After': '1' }).end('x'.repeat(10 * 1024));
    else if (nth === 2) response.destroy();
    else response.writeHead(200).end(`attempt ${nth}`);
  });
  const id = await register(service, { url: receiver.url, events: ['task.created'], secret: 'a secret' });
  await createTask(service, 'Grüße 🚀');
  const [{ deliveryId } = expect.fail('there is no attempt')] = await attemptsOf(service, id, 3);
  const params = { id, deliveryId };
  const read = async () => successOf<Delivery>(await service.api.getDelivery({ params }));
  // The row of an attempt and its response are written in one request, but not at the same moment.
  await expect.poll(read).toMatchObject({
    ...{ deliveryId, event: 'task.created', state: 'delivered' },
    body: receiver.received[2]?.raw.toString('utf8'),
    attempts: [
      {
        ...{ attempt: 1, httpStatus: 500, responseHeaders: { 'retry-after': '1' } },
        ...{ responseBody: 'x'.repeat(4 * 1024), truncated: true },
      },
      { attempt: 2, httpStatus: 0, error: expect.any(String), responseHeaders: null, responseBody: null },
      { attempt: 3, httpStatus: 200, responseBody: 'attempt 3', truncated: false },
    ],
  });
  const details = await read();
  for (const [at, { headers }] of receiver.received.entries()) {
    const sent = Object.entries(details.attempts[at]?.requestHeaders ?? {});
    const received = Object.entries(headers).filter(([name]) => !name.includes('signature'));
    expect(Object.fromEntries(sent.map(([name, value]) => [name.toLowerCase(), value]))).toEqual(
      Object.fromEntries(received),
    );
  }

  await service.stop('SIGKILL');
  const { dataFolder } = service;
  const after = await startDeployment({ dataFolder, environment });
  expect(successOf<Delivery>(await after.api.getDelivery({ params }))).toEqual(details);
});

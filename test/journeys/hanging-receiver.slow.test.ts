import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';
import { startReceiver } from './receiver.ts';
import { createTask, register } from './requests.ts';

const service = await startDeployment();
const events = ['task.created'];

it('a receiver that hangs does not delay others, with 200 deliveries to it in progress', async () => {
  let ended = 0;
  const hanging = await startReceiver((_, response) => response.once('close', () => ended++));
  const prompt = await startReceiver();
  await register(service, { url: hanging.url, events });
  const ids = await Promise.all(Array.from({ length: 200 }, (_, at) => createTask(service, `Many ${at}`)));
  await hanging.next(1);
  await register(service, { url: prompt.url, events });
  const endedBefore = ended;
  const id = await createTask(service, 'Not delayed');
  await prompt.next(1);
  // A delivery in the same queue would wait until they have ended.
  expect(ended - endedBefore).toBeLessThan((ids.length - endedBefore) / 2);
  expect(prompt.received.map(({ body }) => body.data.task.id)).toEqual([id]);
});

it('nine prompt receivers get all events at once while a tenth hangs, also during its retries', async () => {
  const own = await startDeployment({ environment: { RETRY_LADDER: '1,1,1' } });
  const hanging = await startReceiver(() => {});
  const prompt = await Promise.all(Array.from({ length: 9 }, () => startReceiver()));
  for (const { url } of prompt) await register(own, { url, events });
  let created = 0;
  /** Creates 20 tasks and returns how long each prompt receiver waits for all events so far, in milliseconds. */
  const waitedMs = async () => {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => createTask(own, `Task ${created++}`)));
    await Promise.all(prompt.map((receiver) => receiver.next(created)));
    return performance.now() - startedAt;
  };
  const aloneMs = await waitedMs();
  await register(own, { url: hanging.url, events });
  // A delivery behind one that hangs waits for 10 s more; a busy machine delays all of them.
  const limitMs = 8_000 + aloneMs;
  expect(await waitedMs()).toBeLessThan(limitMs);
  await hanging.once('a retry', (all) => new Set(all.map(({ body }) => body.deliveryId)).size < all.length);
  expect(await waitedMs()).toBeLessThan(limitMs);
  for (const { received } of prompt) expect(new Set(received.map(({ body }) => body.data.task.id)).size).toBe(60);
});

import { expect, it } from 'vitest';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment } from '../deployment.ts';
import { createTask, register } from '../requests.ts';

const events = ['task.created'];

it('nine prompt receivers get all events at once while a tenth hangs, also during its retries', async () => {
  const service = await startDeployment({ environment: { RETRY_LADDER: '1,1,1' } });
  const hanging = await startReceiver(() => {});
  const prompt = await Promise.all(Array.from({ length: 9 }, () => startReceiver()));
  for (const { url } of prompt) await register(service, { url, events });
  let created = 0;
  /** Creates 20 tasks and returns how long each prompt receiver waits for all events so far, in milliseconds. */
  const waitedMs = async () => {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => createTask(service, `Task ${created++}`)));
    await Promise.all(prompt.map((receiver) => receiver.next(created)));
    return performance.now() - startedAt;
  };
  const aloneMs = await waitedMs();
  await register(service, { url: hanging.url, events });
  // A delivery behind one that hangs waits for 10 s more; a busy machine delays all of them.
  const limitMs = 8_000 + aloneMs;
  expect(await waitedMs()).toBeLessThan(limitMs);
  await hanging.once('a retry', (all) => new Set(all.map(({ body }) => body.deliveryId)).size < all.length);
  expect(await waitedMs()).toBeLessThan(limitMs);
  for (const { received } of prompt) expect(new Set(received.map(({ body }) => body.data.task.id)).size).toBe(60);
});

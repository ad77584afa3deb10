import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';
import { startReceiver } from './receiver.ts';
import { attemptsOf, createTask, register } from './stories.ts';

const service = await startDeployment();
const events = ['task.created'];

it('gives a receiver ten seconds, and records that it took them', async () => {
  const hanging = await startReceiver((_, response) => response.writeHead(200).write('and then nothing'));
  const silent = await startReceiver(() => {});
  const answering = await register(service, { url: hanging.url, events });
  const id = await register(service, { url: silent.url, events });
  await createTask(service, 'Waits');
  const [timedOut] = await attemptsOf(service, id, 1);
  expect(timedOut).toMatchObject({ httpStatus: 0, error: 'No answer within 10 s.' });
  expect(timedOut?.durationMs).toBeGreaterThanOrEqual(9_900);
  expect(timedOut?.durationMs).toBeLessThan(12_000);
  // What is 2xx is a success when its headers come, whatever becomes of the body.
  const [begun] = await attemptsOf(service, answering, 1);
  expect(begun).toMatchObject({ httpStatus: 200 });
  expect(begun).not.toHaveProperty('error');
  for (const webhook of [answering, id]) await service.api('DELETE', `/api/webhooks/${webhook}`);
});

it('delays no other receiver by one that hangs, however much is on its way to it', async () => {
  const [hanging, prompt] = [await startReceiver(() => {}), await startReceiver()];
  await register(service, { url: hanging.url, events });
  const ids = await Promise.all(Array.from({ length: 200 }, (_, at) => createTask(service, `Many ${at}`)));
  await hanging.next(1);
  await register(service, { url: prompt.url, events });
  const id = await createTask(service, 'Not held up');
  await prompt.next(1, 5_000);
  expect(prompt.received.map(({ body }) => body.data.task.id)).toEqual([id]);
  expect(ids).toHaveLength(200);
});

it('gives nine prompt receivers everything at once while a tenth hangs, also when its retries have begun', async () => {
  const own = await startDeployment({ environment: { RETRY_LADDER: '1,1,1' } });
  const hanging = await startReceiver(() => {});
  const prompt = await Promise.all(Array.from({ length: 9 }, () => startReceiver()));
  for (const { url } of [hanging, ...prompt]) await register(own, { url, events });
  /** Creates tasks and waits until each prompt receiver has heard of all so far: well before a hanging attempt ends. */
  const tell = async (tasks: number) => {
    await Promise.all(Array.from({ length: tasks }, (_, at) => createTask(own, `Told ${at}`)));
    told += tasks;
    await Promise.all(prompt.map((receiver) => receiver.next(told, 8_000)));
  };
  let told = 0;
  await tell(20);
  await hanging.once('a retry', (all) => new Set(all.map(({ body }) => body.deliveryId)).size < all.length, 30_000);
  await tell(20);
  for (const { received } of prompt) expect(new Set(received.map(({ body }) => body.data.task.id)).size).toBe(40);
});

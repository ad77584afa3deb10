import { expect, it } from 'vitest';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment, until } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';

const environment = { RETRY_LADDER: '1,1,1' };

/** More events than a slow webhook gets at the same time, so that many wait in the queue when it is paused. */
const number = 80;
const fewest = 10;

// In the virtual time of `test/webhooks/faults` no process ends with the queues in its memory.
it.concurrent.each([['SIGKILL'], ['SIGINT']] as const)(
  'delivers first attempts that waited for the end of a pause when the service ends by %s just after it',
  async (signal) => {
    let takesMs = 2_500;
    const receiver = await startReceiver((response) => {
      setTimeout(() => response.writeHead(204).end(), takesMs);
    });
    const before = await startDeployment({ environment });
    const id = await register(before, { url: receiver.url, events: ['task.created'] });
    const pause = (active: boolean) => before.api.updateWebhook({ params: { id }, body: { active } });
    const slow = await createTask(before, 'A task that makes the webhook slow');
    await attemptsOf(before, id, 1);
    const more = Array.from({ length: number - 1 }, (_, at) => createTask(before, `Task ${at}`));
    const tasks = [slow, ...(await Promise.all(more))];
    await receiver.next(2);
    expect((await pause(false)).status).toBe(200);
    const logged = before.output().length;
    // Each message that is received in the pause is logged.
    const received = () =>
      new Set(
        before
          .output()
          .slice(logged)
          .match(/dlv_[0-9A-Z]{26}/g),
      ).size;
    const made = receiver.received.length;
    await until('all waiting attempts are parked', () => received() >= number - made);
    takesMs = 0;
    const posted = receiver.received.length;
    expect(posted).toBeLessThanOrEqual(number - fewest);
    expect((await pause(true)).status).toBe(200);
    await until('an attempt is made after the pause', () => receiver.received.length > posted);
    await before.stop(signal);
    const after = await startDeployment({ dataFolder: before.dataFolder, environment });
    await receiver.once('all tasks', (all) =>
      new Set(all.map(({ body }) => body.data.task.id)).isSupersetOf(new Set(tasks)),
    );
    const attempts = await attemptsOf(after, id, number);
    expect(new Set(attempts.map(({ deliveryId }) => deliveryId)).size).toBe(number);
  },
);

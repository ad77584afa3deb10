import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startReceiver } from '../../sender/receiver.ts';
import { launch, newFolder, startDeployment, until } from '../deployment.ts';
import { attemptsOf, createTask, readTask, register } from '../requests.ts';

/** The longest wait for the deliveries of a slow webhook: few are attempted at once. In milliseconds. */
const slowDeliveriesMs = 120_000;

// The soak kills the service again and again while it writes. Here at its end, some attempts hang, some messages wait in the queue and some events are not published. After
// the first timeout the messages are in the queue of slow webhooks.
it.concurrent.each<[string, NodeJS.Signals, number]>([
  ['is killed when the webhook is slow', 'SIGKILL', 1],
  ['is stopped while the first attempts are under way', 'SIGINT', 0],
])('delivers 120 events after a restart when the service %s', async (_, signal, timedOut) => {
  const environment = { RETRY_LADDER: '1,1,1' };
  const hanging = await startReceiver(() => {});
  const before = await startDeployment({ environment });
  const webhook = await register(before, { url: hanging.url, events: ['task.created'] });
  const ids = await Promise.all(Array.from({ length: 120 }, (_, at) => createTask(before, `Task ${at}`)));
  await hanging.next(1);
  await attemptsOf(before, webhook, timedOut);
  await before.stop(signal);
  await hanging.close();
  const receiver = await startReceiver(undefined, hanging.port);
  await startDeployment({ dataFolder: before.dataFolder, environment });
  await receiver.once(
    'all tasks',
    (all) => new Set(all.map(({ body }) => body.data.task.id)).isSupersetOf(new Set(ids)),
    slowDeliveriesMs,
  );
});

it('keeps its data through kill after kill, also during the start', async () => {
  const dataFolder = newFolder();
  const first = await startDeployment({ dataFolder });
  const id = await createTask(first, 'A task');
  await first.stop('SIGKILL');
  const sharedMemory = join(dataFolder, 'crewboard.db-shm');
  for (let round = 0; round < 4; round++) {
    // The kill has left this file, which the next process that opens the table creates anew.
    rmSync(sharedMemory);
    const starting = launch({ dataFolder });
    await until('it opens the table', () => existsSync(sharedMemory));
    starting.child.kill('SIGKILL');
    await starting.ended;
    const next = await startDeployment({ dataFolder });
    expect(next.token).toBe(first.token);
    expect((await readTask(next, id)).title).toBe('A task');
    await next.stop('SIGKILL');
  }
});

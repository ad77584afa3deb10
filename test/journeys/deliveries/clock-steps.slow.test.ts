import { expect, it } from 'vitest';
import { createClient } from '../../../lib/client/client.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { newClockFile, startWithClock } from '../clock.ts';
import { type Deployment, until } from '../deployment.ts';
import { createTask, register } from '../requests.ts';

/** Less than the default of one machine, so that the process reports its requests to the table after 100 of them. */
const environment = { REQUESTS_PER_MINUTE: '6000' };

/** Follows the log from a position until it has the event of a task; returns the next position. */
async function followUntil(service: Deployment, taskId: string, from: string): Promise<string> {
  let after = from;
  await until(`the follower sees ${taskId}`, async () => {
    const { data, pagination } = await createClient(service).listEvents({ query: { after } });
    after = pagination.next ?? after;
    return data.some((event) => 'task' in event.data && event.data.task.id === taskId);
  });
  return after;
}

/** Makes enough requests for a report to the table; all are within the limit. */
async function report({ api }: Deployment): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 150 }, () => api.listTasks({})));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
}

it.each([5_000, 3_600_000])(
  'a step back of %d ms, and a restart, neither lose events nor hold up requests',
  async (aheadMs) => {
    const receiver = await startReceiver();
    const { service, clockFile, setClock } = await startWithClock({ environment }, newClockFile(aheadMs));
    const first = await createTask(service, 'First');
    let after = await followUntil(service, first, `ev_${'0'.repeat(26)}`);
    await report(service);
    await register(service, { url: receiver.url, events: ['task.created'] });

    await setClock(0);
    const second = await createTask(service, 'Second');
    after = await followUntil(service, second, after);
    const [delivered] = await receiver.next(1);
    expect(delivered?.body.data).toMatchObject({ task: { id: second } });
    expect(service.output()).toContain(`the clock was set back by ${aheadMs / 1_000} s`);

    expect((await service.stop()).code).toBe(0);
    const { service: again } = await startWithClock({ environment, dataFolder: service.dataFolder }, clockFile);
    await report(again);
    const third = await createTask(again, 'Third');
    await followUntil(again, third, after);
    const received = await receiver.next(2);
    expect(received.map(({ body }) => body.data)).toMatchObject([{ task: { id: second } }, { task: { id: third } }]);
    await again.stop();
  },
);

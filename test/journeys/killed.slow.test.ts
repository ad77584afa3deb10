import { expect, it } from 'vitest';
import { type TaskStatus, taskStatuses } from '../../lib/contract/tasks.ts';
import { dataOf, paginationOf, successOf } from '../api.ts';
import { processesOn } from '../processes.ts';
import { testSeed } from '../seeded.ts';
import { between, randomFrom } from '../soak/random.ts';
import { type Deployment, launch, newFolder, startDeployment, until, untilNoneRunsOn } from './deployment.ts';
import { type Received, startReceiver } from './receiver.ts';
import { attemptsOf, createTask, readTask, register } from './requests.ts';

const random = randomFrom(testSeed);

/** The longest wait for the deliveries of a slow webhook: few are attempted at once. In milliseconds. */
const slowDeliveriesMs = 120_000;

/** The events that must be delivered, by the responses to the writers, and the statuses that each task can have. */
type Ledger = { events: Set<string>; tasks: Map<string, TaskStatus[]> };

const eventOf = ({ body: { event, data } }: Received) => nameOf(event, data.task.id as string, data.task.status);

function nameOf(event: string, id: string, status = '') {
  return event === 'task.created' ? `${event} ${id}` : `${event} ${id} ${status}`;
}

/** Creates tasks and moves each through all statuses until the service is gone. Calls `onSuccess` for each response. */
async function write({ api, ended }: Deployment, { events, tasks }: Ledger, onSuccess: () => void): Promise<void> {
  /** Returns undefined where there is no response because the service is gone. */
  const whileUp = <Value>(response: Promise<Value>) => response.catch(() => ended.then(() => undefined));
  for (;;) {
    const created = await whileUp(api.createTask({ body: { title: 'A task' } }));
    if (!created) return;
    const { id } = successOf(created);
    tasks.set(id, ['backlog']);
    events.add(nameOf('task.created', id));
    onSuccess();
    for (const status of taskStatuses.slice(1)) {
      tasks.get(id)?.push(status);
      const moved = await whileUp(api.updateTask({ params: { id }, body: { status } }));
      if (!moved) return;
      successOf(moved);
      tasks.set(id, [status]);
      events.add(nameOf('task.status_changed', id, status));
      onSuccess();
    }
  }
}

/** Reads the list of all tasks, page by page, and returns their statuses. Checks the total. */
async function readStatuses({ api }: Deployment): Promise<Map<string, TaskStatus>> {
  const statuses = new Map<string, TaskStatus>();
  let total = 0;
  for (let offset = 0; offset <= total; offset += 100) {
    const page = await api.listTasks({ query: `limit=100&offset=${offset}` });
    total = paginationOf(page).total;
    for (const { id, status } of dataOf<{ id: string; status: TaskStatus }[]>(page)) statuses.set(id, status);
  }
  expect(statuses.size).toBe(total);
  return statuses;
}

it('no write that was responded to and none of its events is lost when the service is killed again and again', async () => {
  const receiver = await startReceiver();
  const dataFolder = newFolder();
  const ledger: Ledger = { events: new Set(), tasks: new Map() };
  let service = await startDeployment({ dataFolder });
  await register(service, { url: receiver.url, events: ['task.created', 'task.status_changed'] });
  for (let round = 0; round < 6; round++) {
    let left = between(random, 10, 260);
    const killed = service.ended;
    const onSuccess = () => {
      if (--left === 0) void service.stop('SIGKILL');
    };
    await Promise.all(Array.from({ length: 8 }, () => write(service, ledger, onSuccess)));
    expect((await killed).signal).toBe('SIGKILL');
    await untilNoneRunsOn(dataFolder);
    service = await startDeployment({ dataFolder });
    const found = await readStatuses(service);
    for (const [id, possible] of ledger.tasks) expect(possible).toContain(found.get(id));
    for (const status of taskStatuses) {
      const { total } = paginationOf(await service.api.listTasks({ query: `limit=1&status=${status}` }));
      expect(total).toBe([...found.values()].filter((one) => one === status).length);
    }
  }
  const arrived = await receiver.once(
    'every event that was responded to',
    (received) => new Set(received.map(eventOf)).isSupersetOf(ledger.events),
    60_000,
  );
  // A repeated event has the same delivery id: a receiver that keeps the ids can ignore it.
  const deliveries = new Map(arrived.map((one) => [one.headers['x-service-delivery'], eventOf(one)]));
  expect(new Set(deliveries.values()).size).toBe(deliveries.size);
  expect(deliveries.size).toBeGreaterThanOrEqual(ledger.events.size);
});

// At the end of the service some attempts hang, some messages wait in the queue and some events are not published. After
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
  await untilNoneRunsOn(before.dataFolder);
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
  for (let round = 0; round < 4; round++) {
    await untilNoneRunsOn(dataFolder);
    const starting = launch({ dataFolder });
    await until('its engine starts', () => processesOn(dataFolder).length > 0);
    starting.child.kill('SIGKILL');
    await starting.ended;
    const next = await startDeployment({ dataFolder });
    expect(next.token).toBe(first.token);
    expect((await readTask(next, id)).title).toBe('A task');
    await next.stop('SIGKILL');
  }
});

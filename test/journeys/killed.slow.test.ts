import { expect, it } from 'vitest';
import { taskStatuses } from '../../lib/contract/tasks.ts';
import { processesOn } from '../processes.ts';
import { testSeed } from '../seeded.ts';
import { between, randomFrom } from '../soak/random.ts';
import { type Deployment, launch, newFolder, startDeployment, until, untilNoneRunsOn } from './deployment.ts';
import { type Received, startReceiver } from './receiver.ts';
import { attemptsOf, createTask, register } from './stories.ts';

const random = randomFrom(testSeed);

/** So soon after a start an attempt is made again that was under way. */
const againWithinMs = 20_000;

/** So soon everything has come that waits for a webhook which has shown to be slow: few at once, and less often in time. */
const slowlyWithinMs = 120_000;

/** What writers were answered: the events that must arrive, and each task's status, with what may have become of it. */
type Ledger = { events: Set<string>; tasks: Map<string, string[]> };

const eventOf = ({ body: { event, data } }: Received) => nameOf(event, data.task.id as string, data.task.status);

function nameOf(event: string, id: string, status = '') {
  return event === 'task.created' ? `${event} ${id}` : `${event} ${id} ${status}`;
}

/** Creates tasks and moves each through the board until the service is gone; `answered` is called for every success. */
async function write({ api }: Deployment, { events, tasks }: Ledger, answered: () => void): Promise<void> {
  for (;;) {
    let id: string | undefined;
    try {
      const created = await api('POST', '/api/kanban-tasks', { body: { title: 'Endures' } });
      expect(created.status).toBe(201);
      id = created.body.data.id as string;
      tasks.set(id, ['backlog']);
      events.add(nameOf('task.created', id));
      answered();
      for (const status of taskStatuses.slice(1)) {
        tasks.get(id)?.push(status);
        const moved = await api('PATCH', `/api/kanban-tasks/${id}`, { body: { status } });
        expect(moved.status).toBe(200);
        tasks.set(id, [status]);
        events.add(nameOf('task.status_changed', id, status));
        answered();
      }
    } catch (error) {
      if (error instanceof TypeError || error instanceof SyntaxError) return;
      throw error;
    }
  }
}

/** Everything on the board, by paging through it; fails unless that is as many as every page says. */
async function readBoard({ api }: Deployment): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  let total = 0;
  for (let offset = 0; offset <= total; offset += 100) {
    const path = `/api/kanban-tasks?limit=100&offset=${offset}`;
    const { body } = await api<{ id: string; status: string }[]>('GET', path);
    total = body.pagination.total;
    for (const { id, status } of body.data) seen.set(id, status);
  }
  expect(seen.size).toBe(total);
  return seen;
}

it('loses nothing that it has answered for when it is killed again and again in the middle of writes', async () => {
  const receiver = await startReceiver();
  const dataFolder = newFolder();
  const ledger: Ledger = { events: new Set(), tasks: new Map() };
  let service = await startDeployment({ dataFolder });
  await register(service, { url: receiver.url, events: ['task.created', 'task.status_changed'] });
  for (let round = 0; round < 6; round++) {
    let left = between(random, 10, 260);
    const killed = service.ended;
    const answered = () => {
      if (--left === 0) void service.stop('SIGKILL');
    };
    await Promise.all(Array.from({ length: 8 }, () => write(service, ledger, answered)));
    expect((await killed).signal).toBe('SIGKILL');
    await untilNoneRunsOn(dataFolder);
    service = await startDeployment({ dataFolder });
    const board = await readBoard(service);
    for (const [id, possible] of ledger.tasks) expect(possible).toContain(board.get(id));
    for (const status of taskStatuses) {
      const { body } = await service.api('GET', `/api/kanban-tasks?limit=1&status=${status}`);
      expect(body.pagination.total).toBe([...board.values()].filter((one) => one === status).length);
    }
  }
  const arrived = await receiver.once(
    'every event of what was answered',
    (received) => new Set(received.map(eventOf)).isSupersetOf(ledger.events),
    60_000,
  );
  // The same event again is the same delivery: a receiver that keeps their ids hears everything once.
  const deliveries = new Map(arrived.map((one) => [one.headers['x-service-delivery'], eventOf(one)]));
  expect(new Set(deliveries.values()).size).toBe(deliveries.size);
  expect(deliveries.size).toBeGreaterThanOrEqual(ledger.events.size);
});

it.concurrent('makes an attempt again that hung when it was killed', async () => {
  const hanging = await startReceiver(() => {});
  const before = await startDeployment();
  const webhook = await register(before, { url: hanging.url, events: ['task.created'] });
  const id = await createTask(before, 'Hangs');
  const [first] = await hanging.next(1);
  await before.stop('SIGKILL');
  await hanging.close();
  const receiver = await startReceiver(undefined, hanging.port);
  const after = await startDeployment({ dataFolder: before.dataFolder });
  const [again] = await receiver.next(1, againWithinMs);
  expect(again?.body).toMatchObject({ deliveryId: first?.body.deliveryId, data: { task: { id } } });
  expect(await attemptsOf(after, webhook, 1)).toMatchObject([{ attempt: 1, httpStatus: 204, redelivery: false }]);
});

// Many at once: when the service ends some hang, some wait in the queue and some are not published yet. Once the first of
// them has timed out, those that wait are in the queue of slow webhooks.
it.concurrent.each<[string, NodeJS.Signals, number]>([
  ['is killed while the first are under way', 'SIGKILL', 0],
  ['is killed when the receiver has shown to be slow', 'SIGKILL', 1],
  ['is stopped while the first are under way', 'SIGINT', 0],
])('delivers after a restart what was published and not yet attempted when it %s', async (_, signal, timedOut) => {
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
    slowlyWithinMs,
  );
});

it('keeps what it has through kill after kill, also while it starts', async () => {
  const dataFolder = newFolder();
  const first = await startDeployment({ dataFolder });
  const id = await createTask(first, 'Still here');
  await first.stop('SIGKILL');
  for (let round = 0; round < 4; round++) {
    await untilNoneRunsOn(dataFolder);
    const starting = launch({ dataFolder });
    await until('its engine starts', () => processesOn(dataFolder).length > 0);
    starting.child.kill('SIGKILL');
    await starting.ended;
    const next = await startDeployment({ dataFolder });
    expect(next.token).toBe(first.token);
    expect((await next.api('GET', `/api/kanban-tasks/${id}`)).status).toBe(200);
    await next.stop('SIGKILL');
  }
});

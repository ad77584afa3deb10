import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { dataOf, paginationOf, successOf } from '../../api.ts';
import { crewboardIn } from '../../infra/cli/commands/local-service.ts';
import { answersOf, createFormerFolder, formerVersions } from '../../infra/local/upgrade/former-folders.ts';
import { type Received, startReceiver } from '../../sender/receiver.ts';
import { newFolder, startDeployment } from '../deployment.ts';
import { attemptsOf, endOf } from '../requests.ts';

/** When the retries of all folders are due, and the running executions have not reached their deadline. */
const startedAt = Date.parse('2026-11-26T02:46:30Z');

type Webhook = { id: string; url: string };
type Event = { event: string; data: { task?: { id: string; title: string } } };

const isTo =
  (id: string) =>
  ({ path }: Received) =>
    path === `/${id}`;
const idOf = ({ body }: Received) => body.deliveryId;

/** Starts the service on a folder at `startedAt`. It delivers to one port only, not to the ports of the former receivers. */
function start(dataFolder: string, port: number) {
  const CLOCK_FILE = join(newFolder(), 'clock');
  writeFileSync(CLOCK_FILE, String(startedAt - Date.now()));
  const environment = { CLOCK_FILE, ALLOWED_RECEIVERS: `127.0.0.1:${port}`, RETRY_LADDER: '5,5,60' };
  return startDeployment({
    dataFolder,
    environment,
    nodeOptions: ['--import', join(import.meta.dirname, '..', 'set-clock.ts')],
  });
}

it.each(formerVersions)('the service of now goes on with the data folder of %s', async (version) => {
  const receiver = await startReceiver();
  const { items } = answersOf(version);
  const tasks = items.filter(({ kind, pk }) => kind?.S === 'task' && pk?.S === 'O#local#T');
  const dataFolder = createFormerFolder(version);
  const service = await start(dataFolder, receiver.port);
  const { api } = service;
  const lines = service.output().match(/^.*(Took over|before-upgrade).*$/gm);
  expect(lines).toEqual([
    expect.stringMatching(
      new RegExp(`^Took over ${items.length} items and [1-9]\\d* unhandled changes from ${dataFolder}/table\\.db in `),
    ),
  ]);

  // The former receivers are gone: their webhooks get the address of this one.
  const webhooks = dataOf<Webhook[]>(await api.listWebhooks());
  expect(webhooks.length).toBe(items.filter(({ url }) => url).length);
  const ids = new Map(webhooks.map(({ id, url }) => [new URL(url).pathname, id]));
  const [hanging, broken] = ['/hang', '/broken'].map((path) => ids.get(path) as string) as [string, string];
  await attemptsOf(service, broken, 4);
  for (const { id } of webhooks)
    successOf(await api.updateWebhook({ params: { id }, body: { url: `http://127.0.0.1:${receiver.port}/${id}` } }));

  // As the upgrade notes say: version 0.1.0 stored counts in another form (docs/deploying.md#from-010-to-020).
  if (version === '0.1.0') {
    const { code, stdout } = await crewboardIn({ CREWBOARD_DATA: dataFolder }, 'reconcile', '--org', 'local', '--fix');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\. All are repaired\.\n$/)]);
  }
  const all = await api.listTasks();
  expect(
    dataOf<{ title: string }[]>(all)
      .map(({ title }) => title)
      .sort(),
  ).toEqual(tasks.map(({ title }) => title?.S).sort());
  expect(paginationOf(all).total).toBe(tasks.length);
  for (const status of taskStatuses)
    expect(paginationOf(await api.listTasks({ query: `status=${status}` })).total).toBe(
      tasks.filter((task) => task.status?.S === status).length,
    );

  // The changes of the last moments before the kill are published, each once.
  const last = ['Before the kill 1', 'Before the kill 2', 'Before the kill 3'];
  await receiver.once('the events of the last tasks', (received) => {
    const titles = received.filter(isTo(hanging)).map(({ body }) => body.data.task.title);
    return last.every((title) => titles.includes(title));
  });
  const events = dataOf<Event[]>(await api.listEvents({ query: 'limit=100' }));
  const created = events.filter(({ event }) => event === 'task.created').map(({ data }) => data.task?.title);
  expect(created.filter((title) => title?.startsWith('Before the kill')).sort()).toEqual(last);

  // Two retries to a receiver that answered 500 were due: each was made at once, and again at the new address.
  await receiver.once('the retries', (received) => new Set(received.filter(isTo(broken)).map(idOf)).size === 2);
  const attempts = await attemptsOf(service, broken, 6);
  const statusesOf = (number: number) =>
    attempts.filter(({ attempt }) => attempt === number).map((one) => one.httpStatus);
  expect([statusesOf(1), statusesOf(2)]).toEqual([
    [500, 500],
    [0, 0],
  ]);
  const [running] = items.filter(({ kind, status }) => kind?.S === 'execution' && status?.S === 'running');
  const agent = running?.agentName?.S as string;
  expect(await endOf(service, agent, `ex_${running?.pk?.S.split('#').at(-1)}`)).toMatchObject({ status: 'completed' });

  // The former executions and a new one are in the same lists, in the order of their starts.
  const { executionId } = dataOf<{ executionId: string }>(
    await api.executeAgent({ params: { name: agent }, body: { input: 'After the upgrade.' } }),
  );
  await endOf(service, agent, executionId);
  const former = items.filter(({ kind }) => kind?.S === 'execution').map(({ pk }) => `ex_${pk?.S.split('#').at(-1)}`);
  const executions = await api.listExecutions();
  expect(dataOf<{ id: string }[]>(executions).map(({ id }) => id)).toEqual([...former, executionId].sort().reverse());
  const totals = await Promise.all(
    ['', 'status=running', 'status=completed', 'status=failed'].map((query) => api.listExecutions({ query })),
  );
  const [total, ...ofStatuses] = totals.map((list) => paginationOf(list).total);
  expect([total, ofStatuses[0]]).toEqual([former.length + 1, 0]);
  expect(ofStatuses.reduce((sum, one) => sum + one)).toBe(total);
  await service.stop();

  const again = await start(dataFolder, receiver.port);
  expect(again.token).toBe(service.token);
  expect(again.output()).not.toMatch(/Took over|before-upgrade|Warning/);
  expect(paginationOf(await again.api.listTasks()).total).toBe(tasks.length);
  await again.stop();
});

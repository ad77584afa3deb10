import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ExecutionListItem } from '../../../lib/contract/executions/executions.ts';
import type { TaskDetail, TaskListItem } from '../../../lib/contract/tasks/tasks.ts';
import { dataOf, paginationOf, successOf } from '../../api.ts';
import { testSeed } from '../../seeded.ts';
import { between, randomFrom } from '../../soak/random.ts';
import { type Deployment, newFolder, startDeployment, until } from '../deployment.ts';
import { createAgent } from '../requests.ts';

const agents = ['one', 'two', 'three', 'four', 'five'] as const;
const taskCount = 200;

/** A task of the graph: its title, its agent, and the places of the tasks that it depends on. */
type Node = { title: string; agent: string; dependsOn: number[] };

/** Draws a graph of chains and diamonds. The work on one task fails, so those behind it never start. */
function drawGraph(): { nodes: Node[]; isReached: boolean[] } {
  const random = randomFrom(testSeed);
  const failing = 20;
  const nodes = Array.from({ length: taskCount }, (_, nth): Node => {
    const count = nth < 10 || nth === failing ? 0 : between(random, 0, 3);
    const dependsOn = new Set(Array.from({ length: count }, () => between(random, Math.max(0, nth - 40), nth - 1)));
    const agent = agents[between(random, 0, agents.length - 1)] as string;
    return { title: nth === failing ? `Broken ${nth}` : `Task ${nth}`, agent, dependsOn: [...dependsOn] };
  });
  // One more task surely waits for the task that fails.
  nodes.at(-1)?.dependsOn.splice(0, 3, failing);
  const isReached: boolean[] = [];
  for (const [nth, { dependsOn }] of nodes.entries())
    isReached[nth] = nth !== failing && dependsOn.every((one) => isReached[one]);
  return { nodes, isReached };
}

it('a graph of 200 tasks of five agents runs to its end by itself, each task once, under kills, a full cap and a used-up budget', async () => {
  const dataFolder = newFolder();
  const script = join(newFolder(), 'script.json');
  writeFileSync(script, JSON.stringify([{ match: 'Broken', error: 'ValidationException' }]));
  const restart = (more: Record<string, string>): Promise<Deployment> =>
    startDeployment({ dataFolder, environment: { MODEL_SCRIPT: script, EXECUTIONS_PER_MINUTE: '100000', ...more } });

  // Tokens for a part of the graph only, however fast this machine is.
  let service = await restart({ RUNNING_CAP: '4', DAILY_TOKENS: '10000' });
  for (const name of agents) await createAgent(service, name, { autoRun: true, autoAccept: true, maxRunning: 2 });
  const { nodes, isReached } = drawGraph();
  const ids: string[] = [];
  for (const { title, agent, dependsOn } of nodes) {
    const body = { title, status: 'assigned', assignedAgent: agent, dependsOn: dependsOn.map((nth) => ids[nth]) };
    ids.push(successOf(await service.api.createTask({ body })).id);
  }

  const done = async () => paginationOf(await service.api.listTasks({ query: 'status=done' })).total;
  const reached = isReached.filter(Boolean).length;
  const part = (share: number) =>
    until(`${share} of the tasks are done`, async () => (await done()) >= share * reached, 300_000);
  // No token is left for today, so nothing starts, and the tasks say so.
  const isLimited = async ({ id }: TaskListItem) => {
    const { autoRun } = successOf<TaskDetail>(await service.api.getTask({ params: { id } }));
    return autoRun?.reason === 'limit';
  };
  const waiting = async () => {
    const ready = dataOf<TaskListItem[]>(await service.api.listReadyTasks({ query: 'limit=100' }));
    return (await Promise.all(ready.map(isLimited))).includes(true);
  };
  await until('a task waits for the budget', waiting, 300_000);
  // Each kill hits executions, stream records and messages under way.
  for (const share of [0.3, 0.5, 0.8, 1]) {
    await service.stop('SIGKILL');
    service = await restart({ RUNNING_CAP: '4' });
    await part(share);
  }

  const states = await Promise.all(
    ids.map(async (id) => successOf<TaskDetail>(await service.api.getTask({ params: { id } }))),
  );
  expect(states.map(({ status }) => status === 'done')).toEqual(isReached);
  const broken = states.find(({ title }) => title.startsWith('Broken'));
  expect(broken).toMatchObject({ status: 'assigned', autoRun: { state: 'stopped' } });
  const executions: ExecutionListItem[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = dataOf<ExecutionListItem[]>(await service.api.listExecutions({ query: `limit=100&offset=${offset}` }));
    executions.push(...page);
    if (page.length < 100) break;
  }
  const times = Map.groupBy(executions, ({ taskId }) => taskId);
  expect(ids.map((id) => times.get(id)?.length ?? 0)).toEqual(
    states.map(({ title }, nth) => (isReached[nth] || title.startsWith('Broken') ? 1 : 0)),
  );
}, 600_000);

import { expect, it } from 'vitest';
import type { ExecutionListItem } from '../../lib/contract/executions.ts';
import { type Deployment, startDeployment, until, untilNoneRunsOn } from './deployment.ts';
import { countOf, createAgent, endings, endOf, execute, toldOf } from './executions.ts';
import { startHeldModel } from './held-model.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { createTask, register } from './stories.ts';

/** A worker that died leaves a lease of so long behind, and then comes a new start's time. */
const leaseMs = 30_000;
const takenUpWithinMs = leaseMs + 30_000;

const agent = 'survivor';

/** Starts the service with an agent, and a receiver that hears of its executions. */
async function open(environment: Record<string, string>): Promise<{ service: Deployment; receiver: Receiver }> {
  const receiver = await startReceiver();
  const service = await startDeployment({ environment });
  await register(service, { url: receiver.url, events: ['agent.spawned', ...endings] });
  await createAgent(service, agent);
  return { service, receiver };
}

/** Kills the service and starts it again on its data. */
async function killAndRestart({ stop, dataFolder }: Deployment, environment: Record<string, string>) {
  await stop('SIGKILL');
  await untilNoneRunsOn(dataFolder);
  return startDeployment({ dataFolder, environment });
}

it.concurrent('completes every run exactly once when it is killed in the middle of them', async () => {
  const environment = { MODEL_LATENCY_MS: '3000', RUNNING_CAP: '200' };
  const { service: before, receiver } = await open(environment);
  const known = new Map<string, string>();
  /** Starts one run after the other until the service is gone: some are asked, some judged, some not yet begun then. */
  const start = async () => {
    try {
      for (;;) {
        const taskId = await createTask(before, 'Endures');
        const id = await execute(before, agent, 'Go on', { taskId });
        known.set(id, taskId);
        await endOf(before, agent, id);
      }
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    }
  };
  const starting = Array.from({ length: 16 }, start);
  await until('some have ended', async () => (await countOf(before, 'completed')) >= 4);
  const after = await killAndRestart(before, environment);
  await Promise.all(starting);
  expect(await countOf(after, 'running')).toBeGreaterThan(0);
  await until('none runs any more', async () => (await countOf(after, 'running')) === 0, takenUpWithinMs);

  const { body } = await after.api<ExecutionListItem[]>('GET', '/api/agents/executions?limit=100');
  const found = new Map(body.data.map(({ id, status }) => [id, status]));
  // One that was cut off before its answer may be there as well.
  expect(body.pagination.total).toBe(found.size);
  expect([...known.keys()].filter((id) => !found.has(id))).toEqual([]);
  expect(new Set(found.values())).toEqual(new Set(['completed']));
  for (const taskId of known.values())
    expect((await after.api('GET', `/api/kanban-tasks/${taskId}`)).body.data.status).toBe('up_for_review');
  const isTold = (id: string) => toldOf(receiver, id).length >= 2;
  await receiver.once('the ends of all', () => [...found.keys()].every(isTold), 60_000);
  for (const id of found.keys()) expect(toldOf(receiver, id).sort()).toEqual(['agent.completed', 'agent.spawned']);
});

it.concurrent('gives a run up that two workers have died of, and gives its task back', async () => {
  const model = await startHeldModel();
  const { service: first, receiver } = await open(model.environment);
  const taskId = await createTask(first, 'Deadly');
  const id = await execute(first, agent, 'Do not survive this', { taskId });
  await model.asked(1);
  const second = await killAndRestart(first, model.environment);
  await model.asked(2, takenUpWithinMs);
  const third = await killAndRestart(second, model.environment);
  const lost = await endOf(third, agent, id, takenUpWithinMs);
  expect(lost).toMatchObject({ status: 'failed', error: 'lost', tokensUsed: 0 });
  expect(lost.qualityGates).toEqual({ selfTest: 'skipped', qaReview: 'skipped' });
  expect((await third.api('GET', `/api/kanban-tasks/${taskId}`)).body.data.status).toBe('assigned');
  await receiver.once('its end', () => toldOf(receiver, id).length >= 2);
  expect(toldOf(receiver, id).sort()).toEqual(['agent.failed', 'agent.spawned']);
});

it.concurrent('stops soon at SIGINT though a run takes minutes, and takes it up again', async () => {
  const model = await startHeldModel();
  const { service: before, receiver } = await open(model.environment);
  const id = await execute(before, agent, 'Take your time');
  await model.asked(1);
  const stoppingAt = Date.now();
  const { code, stdout, stderr } = await before.stop('SIGINT');
  expect(Date.now() - stoppingAt).toBeLessThan(20_000);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('Crewboard has stopped; its data is kept.');
  const after = await startDeployment({ dataFolder: before.dataFolder, environment: model.environment });
  await model.asked(2, takenUpWithinMs);
  model.answer();
  expect(await endOf(after, agent, id)).toMatchObject({ status: 'completed', output: 'It is done.' });
  await receiver.once('its end', () => toldOf(receiver, id).length >= 2);
  expect(toldOf(receiver, id).sort()).toEqual(['agent.completed', 'agent.spawned']);
});

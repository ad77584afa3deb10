import { expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { wakeAgent } from '../../../lib/executions/auto-run.ts';
import type { Job } from '../../../lib/names/consumers.ts';
import { claimTask } from '../../../lib/tasks/claims.ts';
import { createTask } from '../../../lib/tasks/tasks.ts';
import { createApi, dataOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { newTask } from '../../table/tasks/test-table.ts';
import { runJob } from './call-functions.ts';
import { takeTurn } from './delivery-queues.ts';
import { createTestPipeline, messageOf } from './test-pipeline.ts';

// The queues' engine and the service read the time in this process, so a faked one makes minutes pass for both.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const pipeline = await createTestPipeline();
const passMinutes = (minutes: number) => vi.setSystemTime(Date.now() + minutes * 60_000);

// Two schedules call for some minutes while a stack is upgraded, and AWS may repeat a call.
const runTwiceAtOnce = (job: Job) => Promise.all([runJob(job), runJob(job)]);

it('sweep-overdue sends the message of an overdue retry again, once, also if two calls come together', async () => {
  const { url } = await startReceiver((response) => response.writeHead(500).end());
  await pipeline.register(url);
  await pipeline.publishTask();
  const [first] = await takeTurn(pipeline);
  passMinutes(6);
  const ids = async () => (await pipeline.receive('firstRetry')).map((body) => messageOf(body).deliveryId);
  const { deliveryId } = messageOf(first?.body ?? '');
  expect(await ids()).toEqual([deliveryId]);
  await runTwiceAtOnce('deliveries');
  expect(await ids()).toEqual([deliveryId]);
  await runJob('deliveries');
  expect(await ids()).toEqual([]);
});

it('sweep-overdue sends the message of an execution that no worker has leased, once, also if two calls come together', async () => {
  const executionId = await pipeline.startExecution();
  const received = async () => (await pipeline.receive('executions')).map((body) => JSON.parse(body).executionId);
  passMinutes(1);
  await runTwiceAtOnce('executions');
  expect(await received()).toEqual([executionId]);
  await runJob('executions');
  expect(await received()).toEqual([]);
});

it('sweep-overdue ends expired claims and sends the orders of agents that start by themselves, and logs the number of both', async () => {
  const { organization, token } = pipeline;
  const context = processContext();
  const { id } = await createTask(context, organization, newTask(), undefined);
  await claimTask(context, organization, id, { worker: 'Ada', leaseSeconds: 60 }, undefined);
  const api = createApi(token);
  await api.updateAgent({ params: { name: 'qa-reviewer' }, body: { autoRun: true } });
  await wakeAgent(context, organization, 'qa-reviewer');
  const received = async () => (await pipeline.receive('executions')).map((body) => JSON.parse(body));
  await received();
  passMinutes(1);
  const info = vi.spyOn(context.log, 'info');
  await runJob('tasks');
  expect(info.mock.calls).toEqual([['scheduled', { job: 'tasks', woken: 2, unfinished: false }]]);
  expect(await received()).toMatchObject([{ organization, agentName: 'qa-reviewer' }]);
  expect(dataOf(await api.getTask({ params: { id } }))).toMatchObject({ status: 'backlog' });
});

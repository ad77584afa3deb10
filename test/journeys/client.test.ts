import { expect, it } from 'vitest';
import { CrewboardError, createClient } from '../../lib/client/client.ts';
import type { Deliveries } from '../../lib/client/operations.ts';
import { verifyWebhook } from '../../lib/client/verify-webhook.ts';
import { startDeployment, until } from './deployment.ts';
import { startReceiver } from './receiver.ts';

const service = await startDeployment();
const crewboard = createClient(service);

/** Returns the error of a call. */
async function errorOf(call: Promise<unknown>): Promise<CrewboardError> {
  const error = await call.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(CrewboardError);
  return error as CrewboardError;
}

it('creates, reads, changes and deletes tasks', async () => {
  const { data: first, pagination, replayed } = await crewboard.createTask({ body: { title: 'Draw it' } });
  expect([first.status, pagination, replayed]).toEqual(['backlog', undefined, false]);
  const { data: second } = await crewboard.createTask({ body: { title: 'Build it', dependsOn: [first.id] } });

  const params = { id: first.id };
  const { etag, requestId } = await crewboard.getTask({ params });
  expect(etag).toMatch(/^"\d+"$/);
  expect(requestId).toMatch(/./);
  const changed = await crewboard.updateTask({ params, body: { status: 'done' }, ifMatch: etag });
  expect(changed.data.status).toBe('done');
  expect(changed.etag).not.toBe(etag);

  const conflict = await errorOf(crewboard.updateTask({ params, body: { title: 'Late' }, ifMatch: etag }));
  expect([conflict.status, conflict.code]).toEqual([412, 'precondition_failed']);
  expect(conflict.requestId).toMatch(/./);
  const { data: now } = await crewboard.getTask({ params: { id: second.id } });
  expect([now.dependsOn, now.blockedBy]).toEqual([[{ id: first.id, title: 'Draw it', status: 'done' }], []]);

  expect((await crewboard.deleteTask({ params: { id: second.id } })).data).toBeUndefined();
  expect(await errorOf(crewboard.getTask({ params: { id: second.id } }))).toMatchObject({ code: 'not_found' });
});

it('runs an agent, and gets the event of its end by a webhook', async () => {
  const receiver = await startReceiver();
  const secret = 'a secret of the journey';
  const { data: webhook } = await crewboard.registerWebhook({
    body: { url: receiver.url, events: ['agent.completed'], secret },
  });
  const params = { name: 'builder' };
  await crewboard.createAgent({ body: { ...params, displayName: 'Builder', category: 'development' } });
  const { data: started } = await crewboard.executeAgent({ params, body: { input: 'Build it.' } });
  expect(started).toMatchObject({ agentName: 'builder', status: 'running' });

  const [received] = await receiver.next(1);
  const { raw: body, headers } = received as NonNullable<typeof received>;
  const { event, data } = verifyWebhook({ body, headers, secret }) as Deliveries['agent.completed'];
  expect([event, data.execution.id, data.execution.status]).toEqual([
    'agent.completed',
    started.executionId,
    'completed',
  ]);
  const { data: execution } = await crewboard.getExecution({ params: { ...params, id: started.executionId } });
  expect(execution.qualityGates).toEqual({ selfTest: 'passed', qaReview: 'passed' });

  const history = await until('the history has it', async () => {
    const { data } = await crewboard.listDeliveries({ params: { id: webhook.id } });
    return data.length > 0 && data;
  });
  expect(history).toMatchObject([{ event: 'agent.completed', httpStatus: 204, attempt: 1 }]);
  await crewboard.deleteWebhook({ params: { id: webhook.id } });
  expect((await crewboard.listWebhooks()).data).toEqual([]);
});

it('a signal ends a request', async () => {
  const receiver = await startReceiver(() => {});
  const { data: webhook } = await crewboard.registerWebhook({
    body: { url: receiver.url, events: ['task.created'] },
  });
  const ending = new AbortController();
  const { signal } = ending;
  const answer = crewboard.testWebhook({ params: { id: webhook.id }, body: { event: 'task.created' }, signal });
  const refused = expect(answer).rejects.toThrow('enough');
  await receiver.next(1);
  ending.abort(new Error('enough'));
  await refused;
  expect(receiver.received).toHaveLength(1);
  await receiver.close();
});

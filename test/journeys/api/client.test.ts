import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { CrewboardError, createClient, waitForExecution } from '../../../lib/client/client.ts';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import { bundleConsumer } from '../../client/bundle.ts';
import type * as Consumer from '../../client/consumer.ts';
import { delivery, secret } from '../../docs/examples/posted.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment, until } from '../deployment.ts';

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
  expect(etag).toMatch(/^".+"$/);
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

it('restores a prompt by its hash, and sends the colon of the hash as it is or escaped', async () => {
  const params = { name: 'poet' };
  const fields = { displayName: 'Poet', category: 'business', systemPrompt: 'Write odes.' } as const;
  await crewboard.createAgent({ body: { ...params, ...fields } });
  await crewboard.updateAgent({ params, body: { systemPrompt: 'Write sonnets.' } });
  const { data: prompts, pagination } = await crewboard.listPrompts({ params });
  expect([prompts.map(({ source }) => source), pagination?.total]).toEqual([['update', 'create'], 2]);
  const { hash } = prompts[1] as (typeof prompts)[number];
  const { data: agent } = await crewboard.restorePrompt({ params: { ...params, hash } });
  expect(agent.systemPrompt).toBe('Write odes.');
  for (const sent of [hash, encodeURIComponent(hash)]) {
    const headers = { Authorization: `Bearer ${service.token}` };
    const response = await fetch(`${service.url}/api/agents/poet/prompts/${sent}`, { headers });
    expect(await response.json()).toMatchObject({ data: { hash, version: 3, systemPrompt: 'Write odes.' } });
  }
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
  expect(await verifyWebhook({ body, headers, secret })).toMatchObject({
    event: 'agent.completed',
    data: { execution: { id: started.executionId, status: 'completed' } },
  });
  const execution = await waitForExecution(crewboard, { ...params, id: started.executionId });
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

describe('in a context that has only web standards, and nothing of Node.js', async () => {
  const { AbortController, DOMException, Headers, Request, Response, TextDecoder, TextEncoder, URL } = globalThis;
  const { clearTimeout, crypto, fetch, setTimeout } = globalThis;
  const classes = { AbortController, DOMException, Headers, Request, Response, TextDecoder, TextEncoder, URL };
  const context = createContext({ ...classes, clearTimeout, crypto, fetch, setTimeout });
  const consumer: typeof Consumer = runInContext(`${await bundleConsumer()}; consumer`, context);

  it('a program calls the service', async () => {
    expect(await consumer.useService(service.url, service.token, 'in-context')).toEqual({
      titles: ['Build it', 'Draw it'],
      statuses: expect.arrayContaining(['completed']),
      output: expect.stringContaining('Build it.'),
      missing: 'not_found',
    });
    expect(await consumer.reach('http://127.0.0.1:1')).toBe('no_response');
  });

  it('a receiver verifies deliveries', async () => {
    const { body, headers } = delivery({ event: 'task.created' });
    const request = () => new Request('https://receiver.example', { method: 'POST', headers, body });
    expect(await (await consumer.receive(request(), secret)).text()).toBe('A sample task');
    expect(await (await consumer.receive(request(), 'another secret')).text()).toBe('wrong_signature');
  });
});

import type { DynamoDBRecord } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as createAgent } from '../../../functions/agents/create-agent.ts';
import { handler as deleteAgent } from '../../../functions/agents/delete-agent.ts';
import { handler as executeAgent } from '../../../functions/agents/execute-agent.ts';
import { handler as createTask } from '../../../functions/kanban-tasks/create-task.ts';
import { handler as getTask } from '../../../functions/kanban-tasks/get-task.ts';
import { handler as updateTask } from '../../../functions/kanban-tasks/update-task.ts';
import { handler as deliverWebhook } from '../../../functions/pipeline/deliver-webhook.ts';
import { handler as publishEvents } from '../../../functions/pipeline/publish-events.ts';
import { handler as purgeAgent } from '../../../functions/pipeline/purge-agent.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context.ts';
import type { QueueName } from '../../../lib/deployment/queues.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { queueEvent } from '../../queue-event.ts';
import { call, type Sent } from '../../service.ts';
import { streamed } from '../../table-stream.ts';
import { startReceiver } from '../../webhooks/sender/receiver.ts';
import { openPipeline } from './pipeline.ts';

const { service, organization, register, receive } = await openPipeline();
const token = await issueToken(processContext(), {
  organization,
  scopes: ['tasks:read', 'tasks:write', 'agents:write', 'agents:execute'],
});
let lines: object[];

beforeEach(() => {
  lines = [];
  const keep = (message: unknown, ...more: unknown[]) => void lines.push({ message, ...(more[0] as object) });
  for (const level of ['info', 'error'] as const) vi.spyOn(processContext().log, level).mockImplementation(keep);
});

afterEach(() => vi.restoreAllMocks());

/** Sends a request, and answers its id beside what it made. */
async function send(handler: Parameters<typeof call>[0], sent: Sent) {
  const { headers, body } = await call(handler, { token, ...sent });
  return { requestId: headers['X-Request-Id'] as string, data: (body.data ?? {}) as Record<string, string> };
}

/** Publishes the changes of a kind that a request has made. */
async function publish(kind: string, requestId: string): Promise<DynamoDBRecord[]> {
  const made = (await streamed(service, kind)).filter(({ dynamodb }) => dynamodb?.NewImage?.requestId?.S === requestId);
  await publishEvents({ Records: made }, contextOf('publishEvents', 60));
  return made;
}

const waiting = async (queue: QueueName): Promise<{ body: string; requestId: unknown }[]> =>
  (await receive(queue)).map((body) => ({ body, requestId: JSON.parse(body).requestId }));

const newTask = { method: 'POST', path: '/api/kanban-tasks', body: { title: 'Trace me' } };

describe('a request id', () => {
  it('is on the item that the request made, on the message of its event, and in the line of the attempt', async () => {
    const receiver = await startReceiver((response) => response.writeHead(204).end());
    await register(receiver.url, ['task.created']);
    const { requestId } = await send(createTask, newTask);
    expect(await publish('task', requestId)).toHaveLength(1);
    const [message, ...more] = await waiting('deliveries');
    expect(more).toEqual([]);
    expect(message?.requestId).toBe(requestId);
    await deliverWebhook(queueEvent([message?.body ?? '']), contextOf('deliverWebhook', 30));
    const { deliveryId } = JSON.parse(message?.body ?? '');
    expect(lines).toContainEqual(
      expect.objectContaining({ message: 'message', requestId, deliveryId, AttemptsDelivered: 1 }),
    );
  });

  it('is that of the last request on an item that several have changed', async () => {
    const created = await send(createTask, newTask);
    const { id = '' } = created.data;
    const path = `/api/kanban-tasks/${id}`;
    const patch = { method: 'PATCH', path, params: { id }, body: { status: 'done' } };
    const { requestId } = await send(updateTask, patch);
    expect(requestId).not.toBe(created.requestId);
    const [changed, ...more] = await publish('task', requestId);
    expect(more).toEqual([]);
    expect(changed?.dynamodb?.OldImage?.requestId?.S).toBe(created.requestId);
  });

  it('is nothing that a read shows', async () => {
    const { data } = await send(createTask, newTask);
    const { id = '' } = data;
    const read = await send(getTask, { path: `/api/kanban-tasks/${id}`, params: { id } });
    expect(Object.keys(read.data)).not.toContain('requestId');
  });

  it('goes from the start of an execution to its worker, and from a deletion to the purge', async () => {
    const agent = { name: 'traced', displayName: 'Traced', category: 'qa' };
    await send(createAgent, { method: 'POST', path: '/api/agents', body: agent });
    const at = { path: '/api/agents/traced', params: { name: 'traced' } };
    const started = await send(executeAgent, { ...at, method: 'POST', body: { input: 'Work.' } });
    await publish('execution', started.requestId);
    expect((await waiting('executions')).map(({ requestId }) => requestId)).toEqual([started.requestId]);

    const deleted = await send(deleteAgent, { ...at, method: 'DELETE' });
    await publish('purge', deleted.requestId);
    const [message] = await waiting('purges');
    expect(message?.requestId).toBe(deleted.requestId);
    await purgeAgent(queueEvent([message?.body ?? '']), contextOf('purgeAgent', 300));
    expect(lines).toContainEqual(expect.objectContaining({ message: 'message', requestId: deleted.requestId }));
  });

  it('stands in the line of a message that fails, though it cannot be read as one', async () => {
    const body = JSON.stringify({ organization, requestId: 'a-request', deliveryId: 7 });
    await deliverWebhook(queueEvent([body]), contextOf('deliverWebhook', 30));
    expect(lines).toContainEqual(expect.objectContaining({ message: 'record failed', requestId: 'a-request' }));
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as createTask } from '../../../functions/kanban-tasks/create-task.ts';
import { handler as deliverWebhook } from '../../../functions/pipeline/deliver-webhook.ts';
import { handler as publishEvents } from '../../../functions/pipeline/publish-events.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { queueEvent } from '../../queue-event.ts';
import { call } from '../../service.ts';
import { streamed } from '../../table-stream.ts';
import { startReceiver } from '../../webhooks/sender/receiver.ts';
import { openPipeline } from './pipeline.ts';

const { service, organization, register, receive } = await openPipeline();
const token = await issueToken(processContext(), { organization, scopes: ['tasks:write'] });
let fields: object[];

beforeEach(() => {
  fields = [];
  vi.spyOn(processContext().log, 'info').mockImplementation((message, line) => {
    if (message === 'message') fields.push(line);
  });
});

afterEach(() => vi.restoreAllMocks());

/** Creates a task and makes the first attempts of its event. */
async function deliverNewTask(): Promise<void> {
  await call(createTask, { method: 'POST', path: '/api/kanban-tasks', token, body: { title: 'A private title' } });
  await publishEvents({ Records: await streamed(service, 'task') }, contextOf('publishEvents', 60));
  await deliverWebhook(queueEvent(await receive('deliveries')), contextOf('deliverWebhook', 30));
}

describe('the log line of an attempt', () => {
  it('has the event, the host of the receiver, the status, the error and the time of the retry', async () => {
    const receiver = await startReceiver((response) => response.writeHead(503).end());
    await register(`${receiver.url}/private-path?key=private-key`, ['task.created']);
    await deliverNewTask();
    expect(fields).toMatchObject([
      {
        event: 'task.created',
        receiver: new URL(receiver.url).host,
        httpStatus: 503,
        durationMs: expect.any(Number),
        error: 'The receiver answered 503.',
        nextAttemptAt: expect.stringMatching(/Z$/),
        AttemptsDelivered: 0,
      },
    ]);
    expect(JSON.stringify(fields)).not.toContain('private');
  });
});

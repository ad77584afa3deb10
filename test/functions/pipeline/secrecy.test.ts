import { inspect } from 'node:util';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as createTask } from '../../../functions/kanban-tasks/create-task.ts';
import { handler as deliverWebhook } from '../../../functions/pipeline/deliver-webhook.ts';
import { handler as publishEvents } from '../../../functions/pipeline/publish-events.ts';
import { handler as registerWebhook } from '../../../functions/webhooks/register-webhook.ts';
import { handler as testWebhook } from '../../../functions/webhooks/test-webhook.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context.ts';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { consumers } from '../../../lib/deployment/consumers.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { dataOf } from '../../api.ts';
import { queueEvent } from '../../queue-event.ts';
import { call } from '../../service.ts';
import { streamed } from '../../table-stream.ts';
import { expectKept, secret } from '../../webhooks/secret-spellings.ts';
import { startReceiver } from '../../webhooks/sender/receiver.ts';
import { runJobs } from './jobs.ts';
import { openPipeline } from './pipeline.ts';

const { service, organization, receive } = await openPipeline();
const token = await issueToken(processContext(), { organization, scopes: ['tasks:write', 'webhooks:write'] });
const whole = (value: unknown) => inspect(value, { depth: 30, maxStringLength: null, maxArrayLength: null });

let lines: unknown[];

beforeEach(() => {
  lines = [];
  for (const level of ['debug', 'info', 'warn', 'error'] as const)
    vi.spyOn(processContext().log, level).mockImplementation((...said: unknown[]) => void lines.push([level, ...said]));
});

afterEach(() => vi.restoreAllMocks());

/** Registers a webhook with the secret, whose receiver answers with a status. */
async function register(status: number) {
  const receiver = await startReceiver((response) => response.writeHead(status).end());
  const body = { url: receiver.url, events: ['task.created'], secret };
  return call(registerWebhook, { method: 'POST', path: '/api/webhooks/register', token, body });
}

/** What a function is handed by the stream. */
async function changes() {
  const kinds = consumers.publishEvents.sources.flatMap((source): readonly string[] => source.kinds);
  return (await Promise.all(kinds.map((kind) => streamed(service, kind)))).flat();
}

const deliver = (bodies: string[]) => deliverWebhook(queueEvent(bodies), contextOf('deliverWebhook', 30));

describe('on the whole way of a delivery', () => {
  it('the secret is in no answer, no record of the stream, no message and no line of the log', async () => {
    const send = vi.spyOn(SQSClient.prototype, 'send');
    const registered = await register(204);
    const { id } = dataOf<Webhook>(registered);
    const answers = [registered, await register(500)];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const path = `/api/webhooks/${id}/test`;
    answers.push(
      await call(testWebhook, { method: 'POST', path, params: { id }, token, body: { event: 'task.created' } }),
      await call(createTask, { method: 'POST', path: '/api/kanban-tasks', token, body: { title: 'A task' } }),
    );

    const records = await changes();
    expect(records).toHaveLength(1);
    await publishEvents({ Records: records }, contextOf('publishEvents', 60));
    const messages = await receive();
    expect(messages).toHaveLength(2);
    await deliver(messages);
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await runJobs(until);
    const sent = send.mock.calls
      .map(([command]) => command as unknown)
      .flatMap((command) => (command instanceof SendMessageBatchCommand ? (command.input.Entries ?? []) : []));
    // Two first attempts, a retry, and the sweep's own for that.
    expect(sent).toHaveLength(4);
    expect(lines.length).toBeGreaterThan(messages.length);

    for (const seen of [answers, records, messages, sent, lines]) expectKept(whole(seen));
  });
});

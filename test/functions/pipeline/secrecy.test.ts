import { inspect } from 'node:util';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { consumers, jobs } from '../../../lib/names/consumers.ts';
import { createApi, dataOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { streamed } from '../../table-stream.ts';
import { expectKept, secret } from '../../webhooks/secret-spellings.ts';
import { consume, publish, runJob } from './call-functions.ts';
import { createTestPipeline } from './test-pipeline.ts';

const { service, token, receive } = await createTestPipeline();
const api = createApi(token);
const whole = (value: unknown) => inspect(value, { depth: 30, maxStringLength: null, maxArrayLength: null });

/** Registers a webhook with the secret, whose receiver answers with a status. */
async function register(status: number) {
  const { url } = await startReceiver((response) => response.writeHead(status).end());
  return api.registerWebhook({ body: { url, events: ['task.created'], secret } });
}

it('the secret of a webhook is in no response, no record of the stream, no message and no line of the log', async () => {
  const lines: unknown[] = [];
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(processContext().log, level).mockImplementation((...said: unknown[]) => void lines.push([level, ...said]));
  const send = vi.spyOn(SQSClient.prototype, 'send');
  const answers = [await register(204), await register(500)];
  const { id } = dataOf<Webhook>(answers[0] as (typeof answers)[0]);
  answers.push(
    await api.testWebhook({ params: { id }, body: { event: 'task.created' } }),
    await api.createTask({ body: { title: 'A task' } }),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 201]);

  const kinds = consumers.publishEvents.sources.flatMap((source): readonly string[] => [
    ...source.kinds,
    ...source.onlyNew,
  ]);
  const records = (await Promise.all(kinds.map((kind) => streamed(service, kind)))).flat();
  // The task, and the two agents of every organization.
  expect(records).toHaveLength(3);
  await publish(...records);
  const messages = await receive();
  expect(messages).toHaveLength(2);
  await consume('deliverWebhook', ...messages);
  for (const job of jobs) await runJob(job, new Date(Date.now() + 86_400_000).toISOString());
  const sent = send.mock.calls
    .map(([command]) => command as unknown)
    .flatMap((command) => (command instanceof SendMessageBatchCommand ? (command.input.Entries ?? []) : []));
  // Two first attempts, a retry, and the sweep's own for that.
  expect(sent).toHaveLength(4);
  expect(lines.length).toBeGreaterThan(messages.length);

  for (const seen of [answers, records, messages, sent, lines]) expectKept(whole(seen));
});

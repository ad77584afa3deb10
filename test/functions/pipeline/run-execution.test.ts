import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { contextOf } from '../../../infra/local/functions.ts';
import { converseClient } from '../../../infra/local/model/converse-client.ts';
import { processContext } from '../../../lib/context.ts';
import { maxReceiveCount, queues } from '../../../lib/deployment/queues.ts';
import { executeAgent, getExecution } from '../../../lib/executions/executions.ts';
import { setConverseClient } from '../../../lib/model/bedrock.ts';
import { leaseExecution } from '../../../lib/table/executions/executions.ts';
import { queueEvent } from '../../queue-event.ts';
import { dumpOf } from '../../table-dump.ts';
import { messagesIn, receiveFrom } from './delivery-queues.ts';
import { openPipeline } from './pipeline.ts';

// The queues' engine reads the time in this process, so a faked one ends the time for which it hides a message.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const pipeline = await openPipeline();
const { service, organization, sqs, urls } = pipeline;
const asked: string[] = [];
const client = converseClient(async ({ user }) => {
  asked.push(user);
  return { kind: 'answer', text: 'Fine.\nVERDICT: PASS', stopReason: 'end_turn', tokens: { input: 7, output: 3 } };
});
// The function opens its models when it is loaded, and takes the client at the first question.
setConverseClient(client);
const { handler } = await import('../../../functions/pipeline/run-execution.ts');

beforeEach(() => {
  vi.spyOn(processContext().log, 'error').mockImplementation(() => {});
  asked.splice(0);
});

afterEach(() => vi.restoreAllMocks());

async function run(...bodies: string[]): Promise<string[]> {
  const { batchItemFailures } = await handler(queueEvent(bodies), contextOf('runExecution', 660));
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

async function start(): Promise<{ id: string; body: string }> {
  const { executionId: id } = await executeAgent(
    processContext(),
    organization,
    'qa-reviewer',
    { input: 'Do it.' },
    undefined,
  );
  return { id, body: JSON.stringify({ organization, executionId: id }) };
}

const read = (id: string) => getExecution(processContext(), organization, 'qa-reviewer', id);

describe('run-execution', () => {
  it('carries an execution out by the model of this deployment', async () => {
    const { id, body } = await start();
    expect(await run(body)).toEqual([]);
    expect(await read(id)).toMatchObject({ status: 'completed', output: 'Fine.\nVERDICT: PASS', tokensUsed: 20 });
    expect(asked).toHaveLength(2);
  });

  it('is done with a message of what has ended, and with one that comes twice', async () => {
    const { body } = await start();
    await run(body);
    const before = await dumpOf(service.table, organization);
    asked.splice(0);
    expect(await run(body)).toEqual([]);
    expect(await run(body, body)).toEqual([]);
    expect(await dumpOf(service.table, organization)).toEqual(before);
    expect(asked).toEqual([]);
  });

  it('is done with a message of an execution that another worker has leased, or that does not exist', async () => {
    const { id, body } = await start();
    const lease = { leaseId: 'another', now: '2026-03-01T12:00:00.000Z', until: '2026-03-01T12:00:30.000Z' };
    await leaseExecution(service, { organization, id }, lease);
    const before = await dumpOf(service.table, organization);
    const absent = JSON.stringify({ organization, executionId: 'ex_01K00000000000000000000000' });
    expect(await run(body)).toEqual([]);
    expect(await run(absent)).toEqual([]);
    expect(await dumpOf(service.table, organization)).toEqual(before);
    expect(asked).toEqual([]);
  });

  it.each(['{"organization":', '{}', '"text"', '{"organization":"org","executionId":"tk_01K00000000000000000000000"}'])(
    'names the message that is none, %j, and does the one beside it',
    async (broken) => {
      const { id, body } = await start();
      expect(await run(broken, body)).toEqual(['message-0']);
      expect(await read(id)).toMatchObject({ status: 'completed' });
    },
  );
});

it('a message of executions that cannot be read is received five times and is then a dead letter', async () => {
  const [QueueUrl, dead] = [urls.executions, urls.deadLetters];
  const { id, body } = await start();
  for (const MessageBody of ['{"poison":true}', body])
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  for (let receives = 1; receives <= maxReceiveCount; receives++) {
    expect(await messagesIn(pipeline, dead)).toBe(0);
    expect(await receiveFrom(pipeline, 'executions', (bodies) => run(...bodies))).toContain('{"poison":true}');
    vi.setSystemTime(Date.now() + queues.executions.visibilitySeconds * 1000);
  }
  expect(await receiveFrom(pipeline, 'executions', (bodies) => run(...bodies))).toEqual([]);
  expect(await messagesIn(pipeline, dead)).toBe(1);
  expect(await messagesIn(pipeline, QueueUrl)).toBe(0);
  expect(await read(id)).toMatchObject({ status: 'completed' });
});

import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import 'aws-sdk-client-mock-vitest/extend';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createQueueSender, type QueueSender, sendMessages } from '../../lib/aws/queue.ts';
import { Organization } from '../../lib/contract/organization.ts';
import { DeliveryMessage, ExecutionMessage } from '../../lib/names/messages.ts';
import { queues as queueRows } from '../../lib/names/queues.ts';

const client = new SQSClient({});
const sqs = mockClient(client);
const send = createQueueSender(client, 'http://queue');

beforeEach(() => {
  sqs.reset();
  sqs.on(SendMessageBatchCommand).resolves({});
});

const sentBatches = () => sqs.commandCalls(SendMessageBatchCommand).map(({ args: [{ input }] }) => input.Entries ?? []);
const sentSizes = () => sentBatches().map(({ length }) => length);
const sentBodies = () => sentBatches().map((entries) => entries.map((one) => one.MessageBody));

const numbered = (count: number) => Array.from({ length: count }, (_, nth) => ({ message: { nth }, delaySeconds: 0 }));

/** The failures of these entries of a batch, by their ids. */
const failed = (...ids: string[]) => ({
  Failed: ids.map((Id) => ({ Id, SenderFault: false, Code: 'InternalError' })),
});

describe('a send', () => {
  it('of nothing asks nothing of SQS', async () => {
    await send([]);
    expect(sqs).not.toHaveReceivedAnyCommand();
  });

  it('carries each message as JSON with its delay', async () => {
    await send([
      { message: { nth: 1 }, delaySeconds: 0 },
      { message: { nth: 2 }, delaySeconds: 900 },
    ]);
    expect(sqs).toHaveReceivedCommandExactlyOnceWith(SendMessageBatchCommand, {
      QueueUrl: 'http://queue',
      Entries: [
        { Id: '0', MessageBody: '{"nth":1}', DelaySeconds: 0 },
        { Id: '1', MessageBody: '{"nth":2}', DelaySeconds: 900 },
      ],
    });
  });

  it('puts the messages of an organization into its message group, by which SQS shares a queue fairly', async () => {
    await send([{ organization: 'acme' }, { nth: 1 }].map((message) => ({ message, delaySeconds: 0 })));
    expect(sentBatches()[0]?.map(({ MessageGroupId }) => MessageGroupId)).toEqual(['acme', undefined]);
  });

  it.each(Object.entries({ DeliveryMessage, ExecutionMessage }))(
    'has a message group for every message of a work queue: %s names its organization',
    (_, schema) => {
      const variants = 'options' in schema ? schema.options : [schema];
      for (const { entries } of variants) expect(entries.organization).toBe(Organization);
    },
  );

  it.each([
    [10, [10]],
    [25, [10, 10, 5]],
  ])('of %i messages goes in batches of ten at most', async (count, sizes) => {
    await send(numbered(count));
    expect(sentSizes()).toEqual(sizes);
    expect(sentBodies().flat()).toEqual(numbered(count).map(({ message }) => JSON.stringify(message)));
    for (const entries of sentBatches()) expect(new Set(entries.map(({ Id }) => Id)).size).toBe(entries.length);
  });

  it.each([-1, 901, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('is rejected with a delay of %d s', async (delay) => {
    await expect(send([{ message: { nth: 1 }, delaySeconds: delay }])).rejects.toThrow('0 to 900');
    expect(sqs).not.toHaveReceivedAnyCommand();
  });
});

describe('a message that SQS does not take', () => {
  it('is sent again alone', async () => {
    sqs.on(SendMessageBatchCommand).resolvesOnce(failed('1')).resolves({});
    await send(numbered(3));
    expect(sentBodies()).toEqual([['{"nth":0}', '{"nth":1}', '{"nth":2}'], ['{"nth":1}']]);
  });

  it('three times in a row is an error, which says what SQS said', async () => {
    sqs.on(SendMessageBatchCommand).resolves(failed('0', '1'));
    await expect(send(numbered(2))).rejects.toThrow('InternalError');
    expect(sentBodies()).toEqual(Array(3).fill(['{"nth":0}', '{"nth":1}']));
  });

  it('for a fault of ours is an error at once', async () => {
    const Failed = [{ Id: '0', SenderFault: true, Code: 'InvalidMessageContents' }];
    sqs.on(SendMessageBatchCommand).resolves({ Failed });
    await expect(send(numbered(2))).rejects.toThrow('InvalidMessageContents');
    expect(sqs).toHaveReceivedCommandTimes(SendMessageBatchCommand, 1);
  });

  it('keeps those behind it from none of their tries', async () => {
    const first = numbered(10).map(({ message }) => `${message.nth}`);
    sqs
      .on(SendMessageBatchCommand)
      .resolvesOnce(failed(...first))
      .resolves({});
    await send(numbered(12));
    expect(sentSizes().toSorted((a, b) => a - b)).toEqual([2, 10, 10]);
  });
});

describe('a queue of a context', () => {
  const message = { message: { organization: 'acme' as Organization, executionId: 'ex_1' }, delaySeconds: 0 };

  it('is that of SQS that the environment names, by one client for all queues', async () => {
    const variables = { [queueRows.executions.urlVariable]: 'http://executions' };
    const context = { variables, clients: { sqs: client }, queues: new Map() };
    await Promise.all([sendMessages(context, 'executions', [message]), sendMessages(context, 'executions', [message])]);
    expect(sqs).toHaveReceivedCommandExactlyOnceWith(SendMessageBatchCommand, { QueueUrl: 'http://executions' });
  });

  it('is the one that the context has', async () => {
    const send = vi.fn<QueueSender>();
    await sendMessages({ variables: {}, clients: {}, queues: new Map([['executions', send]]) }, 'executions', [
      message,
    ]);
    expect(send).toHaveBeenCalledExactlyOnceWith([message]);
  });
});

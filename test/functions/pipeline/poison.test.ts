import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { consumers } from '../../../lib/names/consumers.ts';
import { maxReceiveCount, queues } from '../../../lib/names/queues.ts';
import { messagesIn, queueConsumers, takeTurn } from './delivery-queues.ts';
import { createTestPipeline } from './test-pipeline.ts';

// The queues' engine reads the time in this process, so a faked one ends the time for which it hides a message.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const pipeline = await createTestPipeline();
const { urls, sqs } = pipeline;
vi.spyOn(processContext().log, 'error').mockImplementation(() => {});

const sources = queueConsumers.flatMap((name) => consumers[name].sources.map(({ queue }) => ({ name, queue })));

it.each(sources)(
  'a message in $queue that cannot be read is received five times by $name and is then a dead letter',
  async ({ name, queue }) => {
    const body = `{"poison":"${queue}"}`;
    const deadLetters = async () => (await pipeline.receive('deadLetters')).filter((letter) => letter === body);
    await sqs.send(new SendMessageCommand({ QueueUrl: urls[queue], MessageBody: body }));
    for (let receives = 1; receives <= maxReceiveCount; receives++) {
      expect(await deadLetters()).toEqual([]);
      expect(await takeTurn(pipeline, name)).toEqual([{ queue, body }]);
      vi.setSystemTime(Date.now() + queues[queue].visibilitySeconds * 1000);
    }
    expect(await takeTurn(pipeline, name)).toEqual([]);
    expect(await deadLetters()).toEqual([body]);
    expect(await messagesIn(pipeline, urls[queue])).toBe(0);
  },
);

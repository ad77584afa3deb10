import { expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { consume } from './call-functions.ts';
import { createTestPipeline } from './test-pipeline.ts';

const { register, publishTask, receive } = await createTestPipeline();

it('the log line of an attempt has the event, the host of the receiver, the status, the error and the time of the retry', async () => {
  const info = vi.spyOn(processContext().log, 'info').mockImplementation(() => {});
  const receiver = await startReceiver((response) => response.writeHead(503).end());
  await register(`${receiver.url}/private-path?key=private-key`, ['task.created']);
  await publishTask('A private title');
  await consume('deliverWebhook', ...(await receive('deliveries')));
  const fields = info.mock.calls.flatMap(([message, line]) => (message === 'message' ? [line] : []));
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

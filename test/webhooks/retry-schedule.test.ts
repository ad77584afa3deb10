import { describe, expect, it } from 'vitest';
import { readAllowedReceivers } from '../../lib/webhooks/allowed-receivers.ts';
import { readRetrySchedule } from '../../lib/webhooks/retry-schedule.ts';
import { createManualTimers } from './manual-timers.ts';
import { closedPort, startReceiver, startSocket } from './receiver.ts';
import { createTestSender } from './test-sender.ts';
import { notingSender, prepareTestWebhooks } from './test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();

describe('the retry schedule', () => {
  it('is 5 minutes, 30 minutes and 2 hours where nothing is set', () => {
    expect(readRetrySchedule(undefined)).toEqual([300_000, 1_800_000, 7_200_000]);
  });

  it.each([
    ['300,1800,7200', [300_000, 1_800_000, 7_200_000]],
    ['1,1,1', [1_000, 1_000, 1_000]],
    [' 2 , 30 ,86400 ', [2_000, 30_000, 86_400_000]],
    ['86400,60,1', [86_400_000, 60_000, 1_000]],
  ])('is read from %j', (text, retrySchedule) => {
    expect(readRetrySchedule(text)).toEqual(retrySchedule);
  });

  it.each([
    '',
    '300',
    '300,1800',
    '300,1800,7200,9000',
    '300,1800,',
    ',,',
    '0,1800,7200',
    '-1,1800,7200',
    '1.5,1800,7200',
    '1e3,1800,7200',
    '0300,1800,7200',
    '300;1800;7200',
    '300,1800,86401',
    '300,1800,100000',
    '5m,30m,2h',
    'Infinity,1,1',
    '3 0,1,1',
  ])('is not read from %j, which the error names', (text) => {
    expect(() => readRetrySchedule(text)).toThrow(`RETRY_LADDER is ${JSON.stringify(text)};`);
  });
});

describe('a failure of any kind', () => {
  const { startTimer, timers } = createManualTimers();
  const send = createTestSender(readAllowedReceivers('127.0.0.1:*'), { startTimer });

  it.each<[string, () => Promise<string>, RegExp]>([
    [
      'a redirect',
      async () => (await startReceiver((response) => response.writeHead(302, { location: '/' }).end())).url,
      /answered 302/,
    ],
    [
      'an answer below 200',
      async () => (await startSocket((to) => void to.end('HTTP/1.1 101 Odd\r\n\r\n'))).url,
      /is not HTTP/,
    ],
    [
      'a refusal of the caller’s',
      async () => (await startReceiver((response) => response.writeHead(410).end())).url,
      /answered 410/,
    ],
    ['a refused connection', async () => `http://127.0.0.1:${await closedPort()}/`, /refused the connection/],
    ['TLS that is none', async () => (await startReceiver()).url.replace('http:', 'https:'), /TLS failed/],
    [
      'an answer that never comes',
      async () => (await startReceiver(() => timers.at(-1)?.fire())).url,
      /No answer within 10 s/,
    ],
    ['an address that is not public', async () => 'https://10.0.0.1/', /Not sent: .*not public/],
    ['a name that is nobody’s', async () => `https://${'x'.repeat(64)}.example/`, /could not be resolved/],
  ])('has the same retry schedule: %s', async (_, receiver, error) => {
    const outcome = await send({ url: await receiver(), headers: {}, body: '{}' });
    expect(outcome.error).toMatch(error);
    const webhooks = createTestWebhooks();
    const message = await webhooks.message();
    const { posts, send: failing } = notingSender(outcome);
    await webhooks.attemptAll(message, failing);
    expect(posts).toHaveLength(4);
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'exhausted', attempt: 4 });
    const sentAt = posts.map(({ body }) => Date.parse(JSON.parse(body).timestamp));
    expect(sentAt.map((at) => (at - (sentAt[0] ?? 0)) / 1000)).toEqual([0, 300, 2_100, 9_300]);
    const records = await webhooks.history(message.webhookId);
    expect(records.map(({ httpStatus, error }) => ({ httpStatus, error }))).toEqual(
      Array(4).fill({ httpStatus: outcome.httpStatus, error: outcome.error }),
    );
  });
});

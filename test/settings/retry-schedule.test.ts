import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../lib/sender/sender.ts';
import { readRetrySchedule } from '../../lib/settings/retry-schedule.ts';
import { getWebhook } from '../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, startTime } from '../webhooks/test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();

describe('the retry schedule', () => {
  it.each([
    [undefined, [300_000, 1_800_000, 7_200_000]],
    [' 2 , 30 ,86400 ', [2_000, 30_000, 86_400_000]],
    ['86400,60,1', [86_400_000, 60_000, 1_000]],
  ])('is read from %j', (text, retrySchedule) => {
    expect(readRetrySchedule(text)).toEqual(retrySchedule);
  });

  it.each([
    ...['', '300,1800', '300,1800,7200,9000', '300,1800,', '0,1800,7200', '-1,1800,7200', '1.5,1800,7200'],
    ...['0300,1800,7200', '300,1800,86401', '300,1800,100000', '5m,30m,2h', '3 0,1,1'],
  ])('is not read from %j, which the error names', (text) => {
    expect(() => readRetrySchedule(text)).toThrow(`RETRY_LADDER is ${JSON.stringify(text)};`);
  });
});

it.each([
  failed,
  // Neither stops the deliveries, nor moves them: the specification has one schedule.
  { httpStatus: 410, error: 'The receiver answered 410.' },
  { httpStatus: 503, error: 'The receiver answered 503.', responseHeaders: [['Retry-After', '3600']] },
  { httpStatus: 0, error: 'No answer within 10 s.', timedOut: true, durationMs: 10_000 },
  { httpStatus: 0, error: 'Not sent: url must not name an address that is not public.' },
] satisfies Partial<Outcome>[])('a failure of any kind has the same retry schedule: $error', async (outcome) => {
  const webhooks = createTestWebhooks();
  const message = await webhooks.message();
  const { posts, send } = notingSender(outcome);
  await webhooks.attemptAll(message, send);
  expect(await webhooks.delivery(message)).toMatchObject({ state: 'exhausted', attempt: 4 });
  const sentAt = posts.map(({ body }) => Date.parse(JSON.parse(body).timestamp));
  expect(sentAt.map((at) => (at - startTime) / 1000)).toEqual([0, 300, 2_100, 9_300]);
  const { httpStatus, error } = outcome;
  expect(await webhooks.history(message.webhookId)).toMatchObject(Array(4).fill({ httpStatus, error }));
  expect((await getWebhook(webhooks, webhooks.organization, message.webhookId)).data).toMatchObject({ active: true });
});

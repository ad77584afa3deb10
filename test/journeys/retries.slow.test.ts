import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';
import { startReceiver } from './receiver.ts';
import { attemptsOf, createTask, register } from './requests.ts';

const service = await startDeployment({ environment: { RETRY_LADDER: '2,3,4' } });
const stepsMs = [2_000, 3_000, 4_000];
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** How often each receiver fails before its first success. */
const failures = [0, 1, 2, 3, 4];

/** Registers a webhook whose receiver fails `failing` times, and then takes everything. */
async function newWebhook(failing: number) {
  let left = failing;
  const receiver = await startReceiver((_, response) => response.writeHead(left-- > 0 ? 503 : 204).end());
  const id = await register(service, { url: receiver.url, events: ['task.created'], secret });
  return { failing, id, receiver, posts: Math.min(failing + 1, 4) };
}

const begun = await Promise.all(failures.map(newWebhook));
const taskId = await createTask(service, 'A task');
const webhooks = await Promise.all(
  begun.map(async (webhook) => ({ ...webhook, history: await attemptsOf(service, webhook.id, webhook.posts) })),
);
// Longer than any step: a post after the end would have come.
await pause(6_000);

describe.each(webhooks)('a receiver that fails $failing times', ({ failing, id, receiver, posts, history }) => {
  it(`gets ${posts} posts, and nothing more after them`, async () => {
    expect(receiver.received).toHaveLength(posts);
    expect(await attemptsOf(service, id, posts)).toHaveLength(posts);
  });

  it('gets the same event with the same delivery id each time', () => {
    const [first] = receiver.received;
    expect(first?.body.data.task.id).toBe(taskId);
    for (const { headers, body } of receiver.received) {
      expect(headers['x-service-delivery']).toBe(first?.body.deliveryId);
      expect({ ...body, timestamp: '' }).toEqual({ ...first?.body, timestamp: '' });
    }
  });

  it('can verify each post: a new timestamp and signatures over it', () => {
    const library = new StandardWebhook(secret);
    for (const { at, headers, raw, body } of receiver.received) {
      const sentAt = Date.parse(body.timestamp);
      expect(Math.abs(at - sentAt)).toBeLessThan(3_000);
      expect(headers['x-service-timestamp']).toBe(String(Math.floor(sentAt / 1000)));
      expect(headers['x-service-signature']).toBe(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
      expect(library.verify(raw.toString('utf8'), headers)).toEqual(body);
    }
    expect(new Set(receiver.received.map(({ body }) => body.timestamp)).size).toBe(posts);
  });

  it('gets each of them after its step of the retry schedule, counted from the end of the failure: never early, at most 3 s late', () => {
    const ends = history.map(({ deliveredAt }) => Date.parse(deliveredAt)).reverse();
    const times = receiver.received.map(({ at }) => at);
    const late = times.slice(1).map((at, nth) => at - (ends[nth] as number) - (stepsMs[nth] as number));
    for (const lateMs of late) {
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThanOrEqual(3_000);
    }
  });

  it('is listed with an attempt for each post, redeliveries from the second on', () => {
    expect([...history].reverse()).toEqual(
      receiver.received.map(({ body }, nth) => ({
        id: nth === 0 ? body.deliveryId : expect.stringMatching(/^dlv_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
        deliveryId: body.deliveryId,
        attempt: nth + 1,
        event: 'task.created',
        durationMs: expect.any(Number),
        deliveredAt: expect.any(String),
        redelivery: nth > 0,
        ...(nth < failing ? { httpStatus: 503, error: 'The receiver answered 503.' } : { httpStatus: 204 }),
      })),
    );
    expect(new Set(history.map((attempt) => attempt.id)).size).toBe(posts);
  });
});

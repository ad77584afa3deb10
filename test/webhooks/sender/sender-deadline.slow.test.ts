import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readAllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import { expectClosed, startReceiver, startSocket } from './receiver.ts';
import { createTestSender } from './test-sender.ts';

const allowed = readAllowedReceivers('127.0.0.1:*');

/**
 * Carries out an attempt.
 *
 * @returns its outcome, and how many milliseconds later than a plain timer of 10 s it ended: a busy machine delays both
 */
async function latenessOf<Outcome>(attempt: () => Promise<Outcome>): Promise<{ outcome: Outcome; lateMs: number }> {
  const timerEnded = pause(10_000).then(() => performance.now());
  const outcome = await attempt();
  const endedAt = performance.now();
  return { outcome, lateMs: endedAt - (await timerEnded) };
}

describe('the deadline of 10 s', () => {
  it.concurrent('ends an attempt whose TLS is never agreed on', async () => {
    const receiver = await startSocket();
    const url = `https://127.0.0.1:${receiver.port}/`;
    const { outcome, lateMs } = await latenessOf(() => createTestSender(allowed)({ url, headers: {}, body: '{}' }));
    expect(outcome).toMatchObject({ httpStatus: 0, timedOut: true, error: 'No answer within 10 s.' });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(9_990);
    expect(outcome.durationMs).toBeLessThan(20_000);
    expect(lateMs).toBeLessThan(500);
    await expectClosed(receiver);
  });

  it.concurrent('ends an attempt whose name is never resolved', async () => {
    const send = createTestSender(allowed, { resolve: () => {} });
    const { outcome, lateMs } = await latenessOf(() =>
      send({ url: 'https://receiver.example/', headers: {}, body: '{}' }),
    );
    expect(outcome).toMatchObject({ httpStatus: 0, timedOut: true, error: 'No answer within 10 s.' });
    expect(lateMs).toBeLessThan(500);
  });

  it.concurrent('does not end an attempt that is answered after 9 s', async () => {
    const { url } = await startReceiver((response) => {
      setTimeout(() => response.writeHead(204).end(), 9_000);
    });
    const outcome = await createTestSender(allowed)({ url, headers: {}, body: '{}' });
    expect(outcome).toMatchObject({ httpStatus: 204, timedOut: false });
  });
});

import { describe, expect, it } from 'vitest';
import { allowedReceivers } from '../../lib/webhooks/receivers.ts';
import { openSender } from '../../lib/webhooks/sender.ts';
import { expectClosed, startReceiver, startSocket } from './receiver.ts';

const allowed = allowedReceivers('127.0.0.1:*');

describe('the deadline of 10 s', () => {
  it.concurrent('ends an attempt within 10.5 s, whose TLS is never agreed on', async () => {
    const receiver = await startSocket();
    const url = `https://127.0.0.1:${receiver.port}/`;
    const outcome = await openSender(allowed)({ url, headers: {}, body: '{}' });
    expect(outcome).toMatchObject({ httpStatus: 0, timedOut: true, error: 'No answer within 10 s.' });
    expect(outcome.durationMs).toBeLessThan(10_500);
    await expectClosed(receiver);
  });

  it.concurrent('ends an attempt within 10.5 s, whose name is never resolved', async () => {
    const send = openSender(allowed, { resolve: () => {} });
    const outcome = await send({ url: 'https://receiver.example/', headers: {}, body: '{}' });
    expect(outcome).toMatchObject({ httpStatus: 0, timedOut: true, error: 'No answer within 10 s.' });
    expect(outcome.durationMs).toBeLessThan(10_500);
  });

  it.concurrent('is not met by an answer after 9 s', async () => {
    const { url } = await startReceiver((response) => {
      setTimeout(() => response.writeHead(204).end(), 9_000);
    });
    const outcome = await openSender(allowed)({ url, headers: {}, body: '{}' });
    expect(outcome).toMatchObject({ httpStatus: 204, timedOut: false });
  });
});

import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { allowedReceivers } from '../../lib/webhooks/receivers.ts';
import { openSender } from '../../lib/webhooks/sender.ts';
import { drip, expectClosed, startReceiver, startSocket } from './receiver.ts';

const allowed = allowedReceivers('127.0.0.1:*');

/** Something that writes so much at once, and then a text each 200 ms. */
const dripping = (start: string, more: string) => (connection: Socket) => {
  connection.write(start);
  drip(connection, more, 200);
};

describe('the deadline of 10 s', () => {
  it.concurrent.for<[string, (connection: Socket) => void, object]>([
    ['nothing', () => {}, { httpStatus: 0 }],
    ['a byte of the status line each 200 ms', dripping('HTTP/1.1 200 ', 'x'), { httpStatus: 0 }],
    ['a byte of the headers each 200 ms', dripping('HTTP/1.1 200 OK\r\nX-Long: ', 'x'), { httpStatus: 0 }],
    ['an interim answer each 200 ms', dripping('', 'HTTP/1.1 102 Processing\r\n\r\n'), { httpStatus: 0 }],
    ['a byte of the body each 200 ms', dripping('HTTP/1.1 200 OK\r\n\r\n', 'x'), { httpStatus: 200 }],
  ])('ends an attempt within 10.5 s, at a receiver that sends %s', async ([, speak, answer]) => {
    const receiver = await startSocket(speak);
    const outcome = await openSender(allowed)({ url: receiver.url, headers: {}, body: '{}' });
    expect(outcome).toMatchObject({ ...answer, timedOut: true });
    if (outcome.httpStatus === 0) expect(outcome.error).toBe('No answer within 10 s.');
    else expect(outcome.error).toBeUndefined();
    expect(outcome.durationMs).toBeGreaterThanOrEqual(9_990);
    expect(outcome.durationMs).toBeLessThan(10_500);
    await expectClosed(receiver);
  });

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

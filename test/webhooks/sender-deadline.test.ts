import { describe, expect, it } from 'vitest';
import { allowedReceivers } from '../../lib/webhooks/receivers.ts';
import { openSender } from '../../lib/webhooks/sender.ts';
import { drip, startReceiver, startSocket } from './receiver.ts';

const deadlineMs = 150;
const send = openSender(allowedReceivers('127.0.0.1:*'), deadlineMs);
const post = (url: string) => send({ url, headers: {}, body: '{}' });
const late = { httpStatus: 0, responseBody: '', error: 'No answer within 0.15 s.' };

/** An attempt that lasted to its deadline and not for long beyond, measured in deadlines. */
function expectAtDeadline({ durationMs }: { durationMs: number }): void {
  expect(durationMs / deadlineMs).toBeGreaterThan(0.9);
  expect(durationMs / deadlineMs).toBeLessThan(10);
}

describe('the deadline', () => {
  it('ends an attempt that gets no answer', async () => {
    const { url, received } = await startReceiver(() => {});
    const outcome = await post(url);
    expect(outcome).toMatchObject(late);
    expectAtDeadline(outcome);
    expect(received).toHaveLength(1);
  });

  it('ends an attempt whose connection is taken in silence', async () => {
    const { url } = await startSocket();
    const outcome = await post(url);
    expect(outcome).toMatchObject(late);
    expectAtDeadline(outcome);
  });

  it('ends an attempt whose TLS is never agreed on, as soon as any other', async () => {
    const { url, port } = await startSocket();
    const [plain, encrypted] = await Promise.all([post(url), post(`https://127.0.0.1:${port}/`)]);
    expect(encrypted).toMatchObject(late);
    expect(encrypted.durationMs / plain.durationMs).toBeLessThan(2);
  });

  it('ends an attempt whose headers drip', async () => {
    const { url } = await startSocket((connection) => {
      connection.write('HTTP/1.1 200 OK\r\nX-Long: ');
      drip(connection, 'x');
    });
    const outcome = await post(url);
    expect(outcome).toMatchObject(late);
    expectAtDeadline(outcome);
  });

  it('ends a body that drips, which is a success since its headers came', async () => {
    const { url, connections } = await startReceiver((response) => {
      response.writeHead(200);
      drip(response, 'x');
    });
    const outcome = await post(url);
    expect(outcome).toMatchObject({ httpStatus: 200, responseBody: expect.stringMatching(/^x+$/) });
    expect(outcome).not.toHaveProperty('error');
    expectAtDeadline(outcome);
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
  });

  it('ends a body that drips behind a failure, which stays one with its status', async () => {
    const { url } = await startReceiver((response) => {
      response.writeHead(503);
      drip(response, 'x');
    });
    const outcome = await post(url);
    expect(outcome).toMatchObject({ httpStatus: 503, error: 'The receiver answered 503.' });
    expectAtDeadline(outcome);
  });

  it('of one attempt is not met by another that is answered', async () => {
    const hanging = await startReceiver(() => {});
    const answering = await startReceiver();
    const [late, well] = await Promise.all([post(hanging.url), post(answering.url)]);
    expect([late.httpStatus, well.httpStatus]).toEqual([0, 204]);
    expect(well.durationMs).toBeLessThan(late.durationMs);
  });
});

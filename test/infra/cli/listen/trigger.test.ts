import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../../../lib/client/verify-webhook.ts';
import { eventNames } from '../../../../lib/contract/webhooks/events.ts';
import { closedPort, startReceiver, startSocket } from '../../../sender/receiver.ts';
import { unknownEvent } from '../../../values/unknown-event.ts';
import { crewboard } from '../api/crewboard.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** The loopback addresses of this machine, which may have no IPv6. */
const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
const loopbacks = ['127.0.0.1', '::1'].filter((address) => own.includes(address));

describe('crewboard trigger', () => {
  it.each(eventNames)('posts a sample of %s, signed as a delivery, without a service', async (event) => {
    const receiver = await startReceiver();
    const { code, stdout, stderr } = await crewboard([
      'trigger',
      event,
      '--forward-to',
      receiver.url,
      '--secret',
      secret,
    ]);
    expect([code, stderr]).toEqual([0, '']);
    const host = new URL(receiver.url).host;
    expect(stdout).toMatch(new RegExp(`✓ ${event} (tk|ex|wh)_\\w{26} → ${host} 204, \\d+ ms\n$`));
    const [{ raw: body, headers } = expect.fail('nothing arrived')] = receiver.received;
    expect(await verifyWebhook({ body, headers, secret })).toMatchObject({ event });
    expect(headers).toMatchObject({ 'user-agent': 'Crewboard-Webhooks/1', 'x-service-event': event });
  });

  it('takes the secret from the environment, and warns without one', async () => {
    const receiver = await startReceiver();
    const args = ['trigger', 'task.created', '--forward-to', receiver.url.replace('127.0.0.1', 'localhost')];
    expect(await crewboard(args, { WEBHOOK_SECRET: secret })).toMatchObject({ code: 0, stderr: '' });
    expect(await crewboard(args)).toMatchObject({ code: 0, stderr: expect.stringContaining('not signed') });
    const [signed, unsigned] = receiver.received.map(({ headers }) => headers['x-service-signature']);
    expect([signed, unsigned]).toEqual([expect.stringMatching(/^sha256=/), undefined]);
  });

  it.each(loopbacks)('reaches a receiver on %s by localhost, whatever /etc/hosts has', async (host) => {
    const speak = (connection: Socket) =>
      connection.once('data', () => connection.end('HTTP/1.1 204 No Content\r\n\r\n'));
    // A given port is none that the system chooses: there, another test could listen on the other address, and answer nothing.
    const { port } = await startSocket(speak, { host, port: randomInt(20_000, 30_000) });
    for (const name of ['localhost', 'app.localhost']) {
      const args = ['trigger', 'task.created', '--forward-to', `http://${name}:${port}/`, '--json'];
      expect(JSON.parse((await crewboard(args)).stdout)).toMatchObject({ data: { httpStatus: 204 } });
    }
  });

  it.each([
    ['answers 500', async () => (await startReceiver((response) => response.writeHead(500).end())).url, '500'],
    ['does not listen', async () => `http://127.0.0.1:${await closedPort()}/`, 'refused connection'],
  ])('exits with 1 if the receiver %s', async (_, start, reason) => {
    const { code, stdout } = await crewboard(['trigger', 'task.created', '--forward-to', await start()]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ task\.created tk_/);
    expect(stdout).toContain(` ${reason}, no retry`);
  });

  it('prints JSON', async () => {
    const { url } = await startReceiver();
    const { stdout } = await crewboard(['trigger', 'agent.failed', '--forward-to', url, '--json']);
    const deliveryId = expect.stringMatching(/^dlv_/);
    const expected = { deliveryId, event: 'agent.failed', httpStatus: 204, durationMs: expect.any(Number) };
    expect(JSON.parse(stdout)).toEqual({ data: expected });
  });
});

describe('the options of listen and trigger reject', () => {
  it.each([
    ['no receiver', ['listen'], "option '--forward-to <url>' not specified"],
    [
      'another URL',
      ['listen', '--forward-to', 'localhost:8080'],
      'It must be a URL such as http://localhost:8080/hook.',
    ],
    ['credentials', ['trigger', 'task.created', '--forward-to', 'http://me:pw@localhost/'], 'It must be a URL such as'],
    ['an unknown event', ['trigger', unknownEvent, '--forward-to', 'http://localhost/'], 'Allowed choices are'],
    ['an unknown name', ['listen', '--forward-to', 'http://localhost/', '--events', 'a'], 'Unknown event a; use'],
    [
      'another duration',
      ['listen', '--forward-to', 'http://localhost/', '--replay', '1w'],
      'such as 30s, 15m, 1h or 2d',
    ],
    ['another id', ['listen', '--forward-to', 'http://localhost/', '--task', 'ex_1'], 'an id of the form tk_'],
  ])('%s', async (_, args, message) => {
    const { code, stdout, stderr } = await crewboard(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

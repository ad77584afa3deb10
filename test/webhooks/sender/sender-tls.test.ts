import { setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readAllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import type { Resolve } from '../../../lib/webhooks/sender/lookup.ts';
import { expectClosed, flood, pem, startSocket, startTls } from './receiver.ts';
import { createTestSender } from './test-sender.ts';

const toLoopback: Resolve = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
const send = createTestSender(readAllowedReceivers('127.0.0.1:*,receiver.test:*,receiver.test.:*'), {
  resolve: toLoopback,
});
const post = (url: string) => send({ url, headers: {}, body: '{"a":"secret"}' });

const well = (connection: TLSSocket) => {
  connection.write('HTTP/1.1 204 No Content\r\n\r\n');
};

setDefaultCACertificates([pem('authority')]);

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  setDefaultCACertificates([pem('authority')]);
});

/** Starts a receiver that answers 204, and returns the texts that it receives. */
async function startListing(certificate: string) {
  const received: string[] = [];
  const receiver = await startTls(certificate, (connection) => {
    connection.on('data', (data) => received.push(String(data)));
    well(connection);
  });
  return { ...receiver, received };
}

describe('a certificate', () => {
  it('that is trusted opens a connection', async () => {
    const { url, received } = await startListing('valid');
    expect(await post(url)).toMatchObject({ httpStatus: 204, timedOut: false });
    await expect.poll(() => received.join('')).toContain('secret');
  });

  it.each([
    ['has expired', 'expired', 'The certificate of the receiver has expired.'],
    ['is its own issuer', 'self-signed', 'The certificate of the receiver is self-signed.'],
    ['is for another name', 'other-name', 'The certificate of the receiver is for another name.'],
  ])('that %s fails, and nothing is sent', async (_, certificate, error) => {
    const receiver = await startListing(certificate);
    expect(await post(receiver.url)).toMatchObject({ httpStatus: 0, responseBody: '', timedOut: false, error });
    await expectClosed(receiver);
    expect(receiver.received).toEqual([]);
  });

  it('of an unknown issuer fails, and nothing is sent', async () => {
    setDefaultCACertificates([]);
    const { url, received } = await startListing('valid');
    const { httpStatus, error } = await post(url);
    expect(httpStatus).toBe(0);
    expect(error).toMatch(/^The certificate of the receiver is of an issuer that is not known/);
    expect(received).toEqual([]);
  });

  it('is looked at though the environment says not to', async () => {
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const { url, received } = await startListing('self-signed');
    expect(await post(url)).toMatchObject({ httpStatus: 0, error: 'The certificate of the receiver is self-signed.' });
    expect(received).toEqual([]);
  });

  it.each(['receiver.test', 'receiver.test.'])(
    'is asked for by the name, without a dot behind it: %s',
    async (host) => {
      const names: unknown[] = [];
      const { port } = await startTls('valid', (connection) => {
        names.push(connection.servername);
        well(connection);
      });
      expect(await post(`https://${host}:${port}/`)).toMatchObject({ httpStatus: 204 });
      expect(names).toEqual(['receiver.test']);
    },
  );
});

describe('TLS', () => {
  it('carries HTTP/1.1, whatever else is offered', async () => {
    const protocols: unknown[] = [];
    const speak = (connection: TLSSocket) => {
      protocols.push(connection.alpnProtocol);
      well(connection);
    };
    const { url } = await startTls('valid', speak, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(await post(url)).toMatchObject({ httpStatus: 204 });
    expect(protocols).toEqual(['http/1.1']);
  });

  it.each([
    ['the receiver ends it', '', /^The connection failed: the receiver broke it off\.$/],
    ['the receiver speaks none', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^The receiver's TLS failed: [A-Z0-9_]+\.$/],
  ])('fails where %s', async (_, text, error) => {
    const receiver = await startSocket((connection) => connection.once('data', () => connection.end(text)));
    const outcome = await post(`https://127.0.0.1:${receiver.port}/`);
    expect(outcome).toMatchObject({ httpStatus: 0, timedOut: false, error: expect.stringMatching(error) });
    await expectClosed(receiver);
  });

  it('fails where the receiver speaks an old version only', async () => {
    const { url } = await startTls('valid', well, {
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      ciphers: 'ALL@SECLEVEL=0',
    });
    expect(await post(url)).toMatchObject({
      httpStatus: 0,
      error: expect.stringMatching(/^The receiver's TLS failed: [A-Z0-9_]+\.$/),
    });
  });

  it('does not lift the bound of what is read', async () => {
    const receiver = await startTls('valid', (connection) => flood(connection, 'HTTP/1.1 102 Processing\r\n\r\n'));
    expect(await post(receiver.url)).toMatchObject({
      httpStatus: 0,
      timedOut: false,
      error: 'The receiver sent more than 64 KiB and no answer in it.',
    });
    await expectClosed(receiver);
  });
});

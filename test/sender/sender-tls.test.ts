import { execFile } from 'node:child_process';
import { setDefaultCACertificates, type TLSSocket, type TlsOptions } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Resolve } from '../../lib/sender/lookup.ts';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { expectClosed, flood, pem, startSocket, startTls } from './receiver.ts';
import { createTestSender } from './test-sender.ts';

const run = promisify(execFile);
const toLoopback: Resolve = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
const send = createTestSender(readAllowedReceivers('127.0.0.1:*,receiver.test:*,receiver.test.:*'), {
  resolve: toLoopback,
});
const post = (url: string) => send({ url, headers: {}, body: '{"a":"secret"}' });

setDefaultCACertificates([pem('authority')]);

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  setDefaultCACertificates([pem('authority')]);
});

/** Starts a receiver that answers 204, and returns its connections by TLS and the texts that it receives. */
async function startListening(certificate: string, options: TlsOptions = {}) {
  const received: string[] = [];
  const secured: TLSSocket[] = [];
  const speak = (connection: TLSSocket) => {
    secured.push(connection);
    connection.on('data', (data) => received.push(String(data)));
    connection.write('HTTP/1.1 204 No Content\r\n\r\n');
  };
  return { ...(await startTls(certificate, speak, options)), received, secured };
}

/** The outcome of an attempt that fails before anything is sent. */
const failed = (error: string | RegExp) => {
  return { httpStatus: 0, responseBody: '', timedOut: false, error: expect.stringMatching(error) };
};
const speaksNone = /^The receiver speaks no TLS on this port\.$/;
const noTls = /^The receiver's TLS failed: [A-Z0-9_]+\.$/;

describe('a certificate', () => {
  it('that is trusted opens a connection', async () => {
    const { url, received } = await startListening('valid');
    expect(await post(url)).toMatchObject({ httpStatus: 204, timedOut: false });
    await expect.poll(() => received.join('')).toContain('secret');
  });

  it('that is trusted completes all phases, whose sum is not above the duration', async () => {
    const { url } = await startListening('valid');
    const named = url.replace('127.0.0.1', 'receiver.test');
    const { phases = {}, durationMs, address } = await post(named);
    expect(Object.keys(phases)).toEqual(['dns', 'connect', 'tls', 'firstByte']);
    expect(Math.min(...Object.values(phases))).toBeGreaterThanOrEqual(0);
    expect(Object.values(phases).reduce((sum, each) => sum + each)).toBeLessThanOrEqual(durationMs);
    expect(address).toBe('127.0.0.1');
  });

  it('that is rejected ends the phases at the connection', async () => {
    const { url } = await startListening('expired');
    expect(Object.keys((await post(url)).phases ?? {})).toEqual(['connect']);
  });

  it.each([
    ['has expired', 'expired', 'The certificate of the receiver has expired.'],
    ['is its own issuer', 'self-signed', 'The certificate of the receiver is self-signed.'],
    ['is not for servers', 'for-clients', 'The certificate of the receiver is not for servers.'],
    ['is for another name', 'other-name', 'The certificate of the receiver is for another name.'],
  ])('that %s fails, and nothing is sent', async (_, certificate, error) => {
    const receiver = await startListening(certificate);
    expect(await post(receiver.url)).toMatchObject(failed(error));
    await expectClosed(receiver);
    expect(receiver.received).toEqual([]);
  });

  it('of an unknown issuer fails, and nothing is sent', async () => {
    setDefaultCACertificates([]);
    const { url, received } = await startListening('valid');
    expect(await post(url)).toMatchObject(failed(/^The certificate of the receiver is of an issuer that is not known/));
    expect(received).toEqual([]);
  });

  it('is looked at though the environment says not to', async () => {
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const { url, received } = await startListening('self-signed');
    expect(await post(url)).toMatchObject(failed('The certificate of the receiver is self-signed.'));
    expect(received).toEqual([]);
  });

  it.each(['receiver.test', 'receiver.test.'])(
    'is asked for by the name, without a dot behind it: %s',
    async (host) => {
      const { port, secured } = await startListening('valid');
      expect(await post(`https://${host}:${port}/`)).toMatchObject({ httpStatus: 204 });
      expect(secured).toMatchObject([{ servername: 'receiver.test' }]);
    },
  );
});

describe('TLS', () => {
  it('carries HTTP/1.1, whatever else is offered', async () => {
    const { url, secured } = await startListening('valid', { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(await post(url)).toMatchObject({ httpStatus: 204 });
    expect(secured).toMatchObject([{ alpnProtocol: 'http/1.1' }]);
  });

  it.each<[string, string, RegExp]>([
    ['the receiver ends it', '', /^The connection failed: the receiver broke it off\.$/],
    ...[
      ...['HTTP/1.1 400 Bad Request\r\n\r\n', '<html>', 'SSH-2.0-OpenSSH_9.9\r\n', '-ERR unknown command\r\n'],
      ...['\n'.repeat(20), '\0'.repeat(20)],
    ].map(
      (text) =>
        [`the receiver speaks none: ${JSON.stringify(text)}`, text, speaksNone] satisfies [string, string, RegExp],
    ),
  ])('fails where %s', async (_, text, error) => {
    const receiver = await startSocket((connection) => connection.once('data', () => connection.end(text)));
    expect(await post(`https://127.0.0.1:${receiver.port}/`)).toMatchObject(failed(error));
    await expectClosed(receiver);
  });

  it('fails where the receiver speaks an old version only', async () => {
    const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' } as const;
    expect(await post((await startListening('valid', old)).url)).toMatchObject(failed(noTls));
  });

  /** An alert of TLS that ends a connection. */
  const alert = (number: number) => String.fromCharCode(0x15, 3, 3, 0, 2, 2, number);

  it.each([40, 42, 46, 48])('fails where the receiver may want a client certificate: alert %i', async (number) => {
    const receiver = await startSocket((connection) =>
      connection.once('data', () => connection.end(alert(number), 'latin1')),
    );
    const error = /^The receiver refused the TLS handshake: it may want a client certificate, /;
    expect(await post(`https://127.0.0.1:${receiver.port}/`)).toMatchObject(failed(error));
  });

  it('fails where the receiver says that it requires a client certificate', async () => {
    const receiver = await startSocket((connection) =>
      connection.once('data', () => connection.end(alert(116), 'latin1')),
    );
    const error = 'The receiver requires a client certificate, which deliveries do not have.';
    expect(await post(`https://127.0.0.1:${receiver.port}/`)).toMatchObject(failed(error));
  });

  it('fails where the receiver requires a client certificate by TLS 1.2', async () => {
    const requires = {
      maxVersion: 'TLSv1.2',
      requestCert: true,
      rejectUnauthorized: true,
      ca: pem('authority'),
    } as const;
    const { url, received } = await startListening('valid', requires);
    expect(await post(url)).toMatchObject(failed(/client certificate/));
    expect(received).toEqual([]);
  });

  it('trusts the authorities in NODE_EXTRA_CA_CERTS', async () => {
    const { url } = await startListening('valid');
    const program = `
      const { sendToReceiver } = await import('./lib/sender/sender.ts');
      const context = { allowedReceivers: () => true, startTimer: () => () => {} };
      const { httpStatus, error } = await sendToReceiver(context, { url: '${url}', headers: {}, body: '{}' });
      console.log(JSON.stringify({ httpStatus, error }));`;
    const outcomeWith = async (variables: NodeJS.ProcessEnv) => {
      const options = {
        cwd: `${import.meta.dirname}/../..`,
        env: { ...process.env, NODE_EXTRA_CA_CERTS: '', ...variables },
      };
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], options);
      return JSON.parse(stdout);
    };
    const NODE_EXTRA_CA_CERTS = `${import.meta.dirname}/certificates/authority.pem`;
    expect(await outcomeWith({ NODE_EXTRA_CA_CERTS })).toEqual({ httpStatus: 204 });
    expect(await outcomeWith({})).toMatchObject({ httpStatus: 0, error: expect.stringContaining('an issuer') });
  });

  it('does not lift the bound of what is read', async () => {
    const receiver = await startTls('valid', (connection) => flood(connection, 'HTTP/1.1 102 Processing\r\n\r\n'));
    expect(await post(receiver.url)).toMatchObject(failed('The receiver sent more than 64 KiB and no answer in it.'));
    await expectClosed(receiver);
  });
});

import { describe, expect, it } from 'vitest';
import { readAllowedReceivers } from '../../lib/webhooks/allowed-receivers.ts';
import { closedPort, startReceiver, startSocket } from './receiver.ts';
import { createTestSender } from './test-sender.ts';

const send = createTestSender(readAllowedReceivers(''));
const post = (url: string, through = send) => through({ url, headers: {}, body: '{}' });
const refused = (why: string) => ({ httpStatus: 0, responseBody: '', error: `Not sent: ${why}.` });

describe('the guarded sender', () => {
  it('does not connect to a private address that is written out', async () => {
    // An address of the loopback that nothing else listens on, so that the port may be one of the two.
    const host = '127.83.91.7';
    const { connections } = await startSocket(undefined, { host, port: 8443 });
    expect(await post(`https://${host}:8443/`)).toMatchObject(
      refused('url must not name an address that is not public'),
    );
    expect(connections).toHaveLength(0);
  });

  it('does not connect to a receiver that the operator opened and closed again', async () => {
    const { url, connections } = await startReceiver();
    expect(await post(url, createTestSender(readAllowedReceivers('127.0.0.1:*')))).toMatchObject({ httpStatus: 204 });
    expect(await post(url)).toMatchObject(refused('url must be an https URL'));
    expect(connections).toHaveLength(1);
  });

  it('dials a name that the operator opens', async () => {
    const { port, received } = await startReceiver();
    const opened = createTestSender(readAllowedReceivers(`localhost:${port}`));
    expect(await post(`http://localhost:${port}/`, opened)).toMatchObject({ httpStatus: 204 });
    expect(received).toHaveLength(1);
  });
});

describe('what is said of a failure', () => {
  it('names no credentials', async () => {
    const { error } = await post('https://a-user:a-word@example.com/');
    expect(error).not.toMatch(/a-user|a-word/);
  });

  it.each([
    ['a refused connection', (port: number) => `http://127.0.0.1:${port}/path`],
    ['a refused connection to a name', (port: number) => `http://localhost:${port}/path`],
    ['refused TLS', (port: number) => `https://127.0.0.1:${port}/path`],
  ])('names no address and no port, with %s', async (_, urlAt) => {
    const port = await closedPort();
    const { error } = await post(urlAt(port), createTestSender(readAllowedReceivers('127.0.0.1:*,localhost:*')));
    expect(error).toMatch(/./);
    expect(error).not.toMatch(/127|::1|localhost|path/);
    expect(error).not.toContain(String(port));
  });

  it('names no address that a name resolves to', async () => {
    const { error } = await post('https://localhost/');
    expect(error).not.toMatch(/127|::1/);
  });
});

import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { startAnswering, startSocket } from './receiver.ts';
import { createKeptConnections, createTestSender } from './test-sender.ts';

const allowed = readAllowedReceivers('127.0.0.1:*');
const send = createTestSender(allowed);

const success = 'HTTP/1.1 200 OK\r\n';
const ok = `${success}Content-Length: 2\r\n\r\nok`;
const continues = 'HTTP/1.1 100 Continue\r\n\r\n';
const chunks = '2\r\nok\r\n0\r\n\r\n';
const policy = "Content-Security-Policy: default-src 'self';\n   script-src 'self';";
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const long = (kibibytes: number) => `X-Long: ${'x'.repeat(kibibytes * 1024)}\r\n`;

/** Answers that old or unusual servers send. Each means 200 with the body `ok`. */
const accepted: [name: string, bytes: string][] = [
  ['an interim 100 that was not asked for', continues + ok],
  ['three of them', continues.repeat(3) + ok],
  ['one of them with line feeds alone', `HTTP/1.1 100 Continue\n\n${ok}`],
  ['a folded header', `${success}X-A: a\r\n b\r\nContent-Length: 2\r\n\r\nok`],
  ['a header that is folded with a tab', `${success}X-A: a\r\n\tb\r\nContent-Length: 2\r\n\r\nok`],
  ['a folded header at the end', `${success}Content-Length: 2\r\nX-A:\r\n b\r\n\r\nok`],
  ['a header that is folded with a line feed', `${success}${policy}\r\nContent-Length: 2\r\n\r\nok`],
  ['line feeds alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ['line feeds alone and no length', 'HTTP/1.0 200 OK\nServer: old\n\nok'],
  ['a line feed alone at the end of the headers', `${success}Content-type: text/plain\n\nok`],
  ['line feeds alone in headers with chunks', `HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n${chunks}`],
  ['a length beside chunks', `${success}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`],
  ['a length behind chunks', `${success}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n${chunks}`],
  ['a wrong length beside chunks', `${success}Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`],
  ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok'],
  ['60 KiB of headers', `${success}${long(1).repeat(60)}Content-Length: 2\r\n\r\nok`],
  ['a header of 63 KiB', `${success}${long(63)}Content-Length: 2\r\n\r\nok`],
];

/** Answers that mean nothing, and the answers among them from which urllib reads the status nevertheless. */
const failing: [name: string, bytes: string][] = [
  ['an interim 100, then the end', continues],
  ['a switch to another protocol', upgrade],
  ['a page without a status line', '<html><body>hello</body></html>'],
  ['two lengths that differ', `${success}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`],
  ['a length below nothing', `${success}Content-Length: -2\r\n\r\nok`],
];
const readByUrllib = ['two lengths that differ', 'a length below nothing'];

/** Starts a receiver that writes these bytes once it has read a request, and ends the connection. */
const startWith = (bytes: string) =>
  startSocket((connection) => {
    let read = '';
    connection.on('data', (data) => {
      read += data;
      // The body of each request in this file.
      if (read.endsWith('{}')) connection.end(Buffer.from(bytes, 'latin1'));
    });
  });

const post = (url: string) => send({ url, headers: {}, body: '{}' });

/** Posts to a receiver that answers with these bytes, on a new connection and on a kept one, and returns both outcomes. */
async function outcomesOf(bytes: string) {
  const { connections } = createKeptConnections();
  const sendKept = createTestSender(allowed, { connections });
  const receiver = await startAnswering((connection, nth) =>
    nth === 1 ? connection.write(ok) : connection.end(Buffer.from(bytes, 'latin1')),
  );
  const keeping = { url: receiver.url, headers: {}, body: '{}' };
  await sendKept(keeping);
  const outcomes = [await post((await startWith(bytes)).url), await sendKept(keeping)];
  expect(receiver.connections).toHaveLength(1);
  return outcomes;
}

describe('an answer of an old or unusual server counts', () => {
  it.each(accepted)('with %s', async (_, bytes) => {
    for (const outcome of await outcomesOf(bytes)) {
      expect(outcome).toMatchObject({ httpStatus: 200, responseBody: 'ok', responseCut: false });
      expect(outcome).not.toHaveProperty('error');
    }
  });

  it('behind an interim 100 that comes in a packet of its own', async () => {
    const answer = (connection: Socket) => connection.write(continues, () => setTimeout(() => connection.end(ok), 50));
    const { url } = await startSocket((connection) => connection.once('data', () => answer(connection)));
    expect(await post(url)).toMatchObject({ httpStatus: 200, responseBody: 'ok' });
  });

  it('behind as many interim answers as headers may have bytes', async () => {
    const hints = `HTTP/1.1 103 Early Hints\r\n${long(20)}\r\n`;
    const { url } = await startWith(`${hints.repeat(3)}${success}${long(60)}Content-Length: 2\r\n\r\nok`);
    expect(await post(url)).toMatchObject({ httpStatus: 200, responseBody: 'ok' });
  });
});

describe('an answer that means nothing fails', () => {
  it.each(failing)('with %s', async (_, bytes) => {
    const [onNew, onKept] = await outcomesOf(bytes);
    expect(onNew).toMatchObject({ httpStatus: 0, responseBody: '', error: expect.stringMatching(/\.$/) });
    expect(onKept).toMatchObject({ httpStatus: 0, responseBody: '', error: onNew?.error });
  });

  it('with more than 64 KiB of headers', async () => {
    for (const outcome of await outcomesOf(`${success}${long(65)}\r\nok`))
      expect(outcome).toMatchObject({ httpStatus: 0, error: 'The headers of the answer are over 64 KiB.' });
  });
});

it('the values of headers have no control characters', async () => {
  const { url } = await startWith(`${success}X-A: a\x1b[31m\x00\x07b\x7f\x9bc\td\r\nX-B: a\r\n\tb\r\n\r\n`);
  expect((await post(url)).responseHeaders).toEqual([
    ['X-A', 'a [31m b c d'],
    ['X-B', 'a b'],
  ]);
});

const run = promisify(execFile);

/** Returns whether a program can be run. */
const exists = (program: string) =>
  run(program, ['--version']).then(
    () => true,
    () => false,
  );

/** What a client made of an answer: its status and body, or no status if it failed. */
type Read = { status: number; body: string };

async function readByCurl(url: string): Promise<Read> {
  const form = ['--silent', '--max-time', '20', '--noproxy', '*', '--data', '{}', '--write-out', ' %{http_code}'];
  const { stdout } = await run('curl', [...form, url]).catch(() => ({ stdout: ' 0' }));
  const [, body = '', status] = /^(.*) (\d+)$/s.exec(stdout) ?? [];
  return { status: Number(status), body };
}

/** Reads all URLs in one process of Python. */
async function readByPython(urls: string[]): Promise<Read[]> {
  const program = `
import json, sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
def read(url):
    try:
        with opener.open(urllib.request.Request(url, data=b"{}", method="POST"), timeout=20) as response:
            return {"status": response.status, "body": response.read().decode("latin1")}
    except Exception:
        return {"status": 0, "body": ""}
print(json.dumps([read(url) for url in sys.argv[1:]]))`;
  const { stdout } = await run('python3', ['-c', program, ...urls]);
  return JSON.parse(stdout) as Read[];
}

it('curl and the urllib of Python read the same from the same bytes', async (test) => {
  const [hasCurl, hasPython] = await Promise.all(['curl', 'python3'].map(exists));
  if (!hasCurl && !hasPython) return test.skip('Neither curl nor Python is installed.');
  const cases = [...accepted, ...failing];
  const receivers = await Promise.all(cases.map(([, bytes]) => startWith(bytes)));
  const urls = receivers.map(({ url }) => url);
  const own = await Promise.all(urls.map(post));
  const ours = own.map(({ httpStatus: status, responseBody: body }, at) => ({ name: cases[at]?.[0], status, body }));
  const named = (read: Read, at: number) => ({ name: cases[at]?.[0], ...read });
  if (hasCurl) expect((await Promise.all(urls.map(readByCurl))).map(named)).toEqual(ours);
  if (!hasPython) return;
  const read = (await readByPython(urls)).map(named);
  const comparable = ({ name = '' }) => !readByUrllib.includes(name);
  expect(read.filter(comparable)).toEqual(ours.filter(comparable));
});

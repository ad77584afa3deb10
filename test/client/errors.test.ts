import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ClientOptions, CrewboardError, createClient } from '../../lib/client/client.ts';
import { startLoopbackServer } from '../servers/loopback.ts';

const token = 'crew_secret';

/** Returns the error of a request that is sent once. */
async function errorOf(options: Partial<ClientOptions>, signal?: AbortSignal): Promise<unknown> {
  const client = createClient({ url: 'http://127.0.0.1', token, tries: 1, ...options });
  return client.listTasks({ signal }).then(
    () => expect.fail('The request got a response.'),
    (error: unknown) => error,
  );
}

/** Returns the URL of a loopback port that nothing listens on. */
async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** Starts a server that handles requests in this way. */
async function startServer(listener: Parameters<typeof startLoopbackServer>[0]): Promise<string> {
  const { url, close } = await startLoopbackServer(listener);
  onTestFinished(close);
  return url;
}

describe('a request without a response', () => {
  it('fails with an error that names the method, the URL and the cause, and says what to do', async () => {
    const url = await closedUrl();
    const error = await errorOf({ url });
    expect(error).toBeInstanceOf(CrewboardError);
    expect(error).toMatchObject({
      code: 'no_response',
      status: 0,
      method: 'GET',
      url: `${url}/api/kanban-tasks`,
      message: `GET ${url}/api/kanban-tasks got no response: connect ECONNREFUSED ${url.slice('http://'.length)}. Check the URL and whether the service runs.`,
      cause: { cause: { code: 'ECONNREFUSED' } },
    });
  });

  it('names the cause if a host name has several addresses', async () => {
    const refused = new Error('connect ECONNREFUSED ::1:3000');
    const addresses = new AggregateError([refused, new Error('connect ECONNREFUSED 127.0.0.1:3000')]);
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: addresses }));
    expect(await errorOf({ fetch })).toMatchObject({
      message: expect.stringContaining('got no response: connect ECONNREFUSED ::1:3000.'),
    });
  });

  it('fails if the connection breaks before the end of the response', async () => {
    const url = await startServer((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('{"success":');
      setImmediate(() => response.destroy());
    });
    expect(await errorOf({ url })).toMatchObject({ code: 'no_response', url: `${url}/api/kanban-tasks` });
  });

  it('fails after the timeout of the client', async () => {
    const url = await startServer(() => {});
    expect(await errorOf({ url, timeoutMs: 50 })).toMatchObject({
      code: 'no_response',
      message: expect.stringContaining('got no response: the timeout of 0.05 seconds has passed.'),
      cause: { name: 'TimeoutError' },
    });
  });

  it('fails after the timeout if the response stops in the middle', async () => {
    const url = await startServer((_, response) => response.writeHead(200).write('{"success":'));
    expect(await errorOf({ url, timeoutMs: 50 })).toMatchObject({ code: 'no_response' });
  });

  it('is sent again after the timeout', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const fetch = vi
      .fn<typeof globalThis.fetch>()
      .mockImplementationOnce(
        (_, init) =>
          new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
      )
      .mockResolvedValueOnce(Response.json({ success: true, data: [] }));
    const answer = createClient({ url: 'http://127.0.0.1', token, fetch }).listWebhooks();
    await vi.advanceTimersByTimeAsync(62_000);
    expect((await answer).data).toEqual([]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it('fails with the reason of the caller if the caller aborts it, and is not retried', async () => {
    const aborting = new AbortController();
    let received = 0;
    const url = await startServer(() => {
      received++;
      aborting.abort(new Error('enough'));
    });
    expect(await errorOf({ url, tries: 4 }, aborting.signal)).toBe(aborting.signal.reason);
    expect(received).toBe(1);
  });
});

it('no error has the token', async () => {
  const unknown = { code: 'unauthorized', message: 'The token is unknown.', requestId: 'r-1', details: [] };
  const urls = [
    await closedUrl(),
    await startServer((_, response) => response.end('<h1>Welcome</h1>')),
    await startServer((_, response) => response.writeHead(401).end(JSON.stringify({ success: false, error: unknown }))),
  ];
  const errors = await Promise.all(urls.map((url) => errorOf({ url })));
  expect(errors.map((error) => (error as CrewboardError).code)).toEqual([
    'no_response',
    'not_an_answer',
    'unauthorized',
  ]);
  for (const error of errors) expect(inspect(error, { depth: null, showHidden: true })).not.toContain(token);
});

describe('the options of a client', () => {
  it.each([
    '',
    'localhost:3000',
    '127.0.0.1:3000',
    'ftp://crewboard.example',
    'http://me:secret@crewboard.example',
    token,
  ])('are rejected if the URL is %j, which the error does not repeat', (url) => {
    expect(() => createClient({ url, token })).toThrow(
      new TypeError('url is not an HTTP URL of the service; write it like http://127.0.0.1:3000.'),
    );
  });

  it.each(['http://localhost', 'http://[::1]:3000/', 'https://crewboard.example/behind/a/path/'])(
    'can have the URL %s',
    (url) => {
      expect(() => createClient({ url, token })).not.toThrow();
    },
  );

  it.each(['crew_secret\n', 'crew secret', 'crew_…'])(
    'are rejected if the token is %j, which the error does not repeat',
    (wrong) => {
      expect(() => createClient({ url: 'http://127.0.0.1:3000', token: wrong })).toThrow(
        new TypeError('token contains a character that no access token has, such as a space; copy it again.'),
      );
    },
  );
});

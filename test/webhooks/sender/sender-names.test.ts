import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readAllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import { createResolver } from '../../../lib/webhooks/sender/lookup.ts';
import { stopDials } from './dials.ts';
import { type DnsAnswer, startDnsServer } from './dns-server.ts';
import { createManualTimers } from './manual-timers.ts';
import { startReceiver } from './receiver.ts';
import { createTestSender } from './test-sender.ts';

const late = { httpStatus: 0, timedOut: true, error: 'No answer within 10 s.' };
const unresolved = { httpStatus: 0, timedOut: false, error: 'The name of the receiver could not be resolved.' };
const [publicV4, publicV6, privateV6] = ['8.8.8.8', '2001:4860:4860:0:0:0:0:8888', 'fd00:0:0:0:0:0:0:1'] as const;

afterEach(() => vi.restoreAllMocks());

/** A sender that asks a DNS server, which answers so for IPv4 and IPv6 addresses of every name. */
async function asking({ A, AAAA }: Record<'A' | 'AAAA', DnsAnswer>, allowed = '') {
  const { server, asked } = await startDnsServer(({ type }) => (type === 'A' ? A : AAAA));
  const { startTimer, timers } = createManualTimers();
  const send = createTestSender(readAllowedReceivers(allowed), { resolve: createResolver([server]), startTimer });
  return { post: (url: string) => send({ url, headers: {}, body: '{}' }), asked, timers };
}

describe('receivers whose names are not resolved', () => {
  it('delay no other receiver: 20 of them, and one that is delivered to before any of them fails', async () => {
    const { server, asked } = await startDnsServer(({ name, type }) => {
      if (name !== 'healthy.example') return 'silence';
      return type === 'A' ? ['127.0.0.1'] : [];
    });
    const { port, received } = await startReceiver();
    const { startTimer, timers } = createManualTimers();
    const send = createTestSender(readAllowedReceivers('healthy.example:*'), {
      resolve: createResolver([server]),
      startTimer,
    });
    const post = (url: string) => send({ url, headers: {}, body: '{}' });

    const hanging = Array.from({ length: 20 }, (_, nth) => post(`https://hanging-${nth}.example/`));
    let failed = 0;
    for (const one of hanging) void one.then(() => failed++);
    await vi.waitUntil(() => new Set(asked.map(({ name, type }) => `${name} ${type}`)).size === 40, {
      timeout: 15_000,
    });
    const outcome = await post(`http://healthy.example:${port}/hooks`);
    expect(outcome).toMatchObject({ httpStatus: 204, timedOut: false });
    expect(received).toHaveLength(1);
    // Look-ups that wait for one another would only begin once those of the others have failed.
    expect(failed).toBe(0);

    for (const { fire } of timers.slice(0, 20)) fire();
    for (const one of await Promise.all(hanging)) expect(one).toMatchObject(late);
  });

  it('leave nothing behind in the process when their deadline is over', async () => {
    const { server } = await startDnsServer(() => 'silence');
    const program = `
      const { createResolver } = await import('./lib/webhooks/sender/lookup.ts');
      const { sendToReceiver } = await import('./lib/webhooks/sender/sender.ts');
      const startTimer = (callback) => { setTimeout(callback, 100); return () => {}; };
      const context = { allowedReceivers: () => false, resolve: createResolver(['${server}']), startTimer };
      const post = { url: 'https://hanging.example/', headers: {}, body: '{}' };
      console.log((await sendToReceiver(context, post)).error);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: `${import.meta.dirname}/../../..`,
    });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    expect(String(said).trim()).toBe(late.error);
    // The tries of c-ares last 20 s, and would keep the process for as long.
    const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
    expect(code).toBe(0);
  }, 30_000);
});

describe('a name', () => {
  it.each<[string, DnsAnswer, DnsAnswer, string[]]>([
    ['both families', [publicV4], [publicV6], [`${publicV4} 443`, '2001:4860:4860::8888 443']],
    ['IPv4 alone', [publicV4], [], [`${publicV4} 443`]],
    ['IPv6 alone', [], [publicV6], ['2001:4860:4860::8888 443']],
    ['IPv4, while the look-up of IPv6 fails', [publicV4], 'SERVFAIL', [`${publicV4} 443`]],
    ['IPv6, while the look-up of IPv4 fails', 'REFUSED', [publicV6], ['2001:4860:4860::8888 443']],
    ['IPv4, while the look-up of IPv6 is not answered', [publicV4], 'silence', [`${publicV4} 443`]],
    ['IPv6, while the look-up of IPv4 is not answered', 'silence', [publicV6], ['2001:4860:4860::8888 443']],
  ])('is dialled at each address that it has: %s', async (_, A, AAAA, addresses) => {
    const dialled = stopDials();
    const { post } = await asking({ A, AAAA });
    await post('https://receiver.example/');
    expect(dialled).toEqual(addresses);
  });

  it.each<[string, DnsAnswer, DnsAnswer]>([
    ['beside a public one', [publicV4], [privateV6]],
    ['among public ones', ['1.1.1.1', '10.0.0.1'], []],
    ['alone, while the look-up of IPv6 is not answered', ['169.254.169.254'], 'silence'],
  ])('is not dialled where it has an address that is not public: %s', async (_, A, AAAA) => {
    const dialled = stopDials();
    const { post } = await asking({ A, AAAA });
    const error = 'Not sent: the name resolves to an address that is not public.';
    expect(await post('https://receiver.example/')).toMatchObject({ httpStatus: 0, error });
    expect(dialled).toEqual([]);
  });

  it.each<[string, DnsAnswer, DnsAnswer]>([
    ['that there is not', 'NXDOMAIN', 'NXDOMAIN'],
    ['without addresses', [], []],
    ['whose DNS servers fail', 'SERVFAIL', 'SERVFAIL'],
    ['that the DNS server refuses to look up', 'REFUSED', 'REFUSED'],
  ])('%s is one that could not be resolved', async (_, A, AAAA) => {
    const { post } = await asking({ A, AAAA });
    expect(await post('https://receiver.example/')).toMatchObject(unresolved);
  });

  it('is one that could not be resolved where the DNS server itself cannot be reached', async () => {
    const resolve = createResolver(['127.0.0.1:1']);
    const send = createTestSender(readAllowedReceivers(''), { resolve });
    expect(await send({ url: 'https://receiver.example/', headers: {}, body: '{}' })).toMatchObject(unresolved);
  });
});

describe('localhost', () => {
  it.each(['localhost', 'localhost.', 'a.localhost'])(
    'is this machine where the operator allows it, and no DNS server is asked: %s',
    async (host) => {
      const dialled = stopDials();
      const { post, asked } = await asking({ A: [publicV4], AAAA: [] }, `${host}:*`);
      await post(`http://${host}:3000/`);
      expect(dialled).toEqual(['127.0.0.1 3000', '::1 3000']);
      expect(asked).toEqual([]);
    },
  );

  it('is not looked up by getaddrinfo, whose threads other names can hold', async () => {
    const { port } = await startReceiver();
    const looked = vi.spyOn(dns, 'lookup');
    syncBuiltinESMExports();
    const outcome = await createTestSender(readAllowedReceivers('localhost:*'))({
      url: `http://localhost:${port}/`,
      headers: {},
      body: '{}',
    });
    expect(outcome).toMatchObject({ httpStatus: 204 });
    expect(looked).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
});

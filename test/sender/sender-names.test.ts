import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createResolver } from '../../lib/sender/lookup.ts';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { stopDials } from './dials.ts';
import { type DnsAnswer, startDnsServer } from './dns-server.ts';
import { createManualTimers } from './manual-timers.ts';
import { startReceiver } from './receiver.ts';
import { createTestSender, late, unresolved } from './test-sender.ts';

const [publicV4, publicV6, privateV6] = ['8.8.8.8', '2001:4860:4860:0:0:0:0:8888', 'fd00:0:0:0:0:0:0:1'] as const;

afterEach(() => vi.restoreAllMocks());

afterEach(() => vi.useRealTimers());

type Answer = Parameters<typeof startDnsServer>[0];

/** Creates a sender that asks a DNS server, which gives these answers. */
async function createAskingSender(answer: Answer, allowed = '') {
  const { server, asked } = await startDnsServer(answer);
  const { startTimer, timers } = createManualTimers();
  const send = createTestSender(readAllowedReceivers(allowed), { resolve: createResolver([server]), startTimer });
  return { post: (url: string) => send({ url, headers: {}, body: '{}' }), asked, timers };
}

/** Gives the same answers for every name: for IPv4 and for IPv6 addresses. */
const always =
  (A: DnsAnswer, AAAA: DnsAnswer): Answer =>
  ({ type }) =>
    type === 'A' ? A : AAAA;

describe('receivers whose names are not resolved', () => {
  it('delay no other receiver: 20 of them, and one that is delivered to before any of them fails', async () => {
    const { port, received } = await startReceiver();
    const healthy = always(['127.0.0.1'], []);
    const { post, asked, timers } = await createAskingSender(
      (question) => (question.name === 'healthy.example' ? healthy(question) : 'silence'),
      'healthy.example:*',
    );
    const hanging = Array.from({ length: 20 }, (_, nth) => post(`https://hanging-${nth}.example/`));
    let failed = 0;
    for (const one of hanging) void one.then(() => failed++);
    const isAsked = () => new Set(asked.map(({ name, type }) => `${name} ${type}`)).size === 40;
    await vi.waitUntil(isAsked, { timeout: 15_000 });
    expect(await post(`http://healthy.example:${port}/hooks`)).toMatchObject({ httpStatus: 204, timedOut: false });
    expect(received).toHaveLength(1);
    // Look-ups that wait for one another would only begin once the look-ups of the others have failed.
    expect(failed).toBe(0);
    for (const { fire } of timers.slice(0, 20)) fire();
    for (const one of await Promise.all(hanging)) expect(one).toMatchObject(late);
  });

  it('leave nothing behind in the process when their deadline is over', async () => {
    const { server } = await startDnsServer(() => 'silence');
    const program = `
      const { createResolver } = await import('./lib/sender/lookup.ts');
      const { sendToReceiver } = await import('./lib/sender/sender.ts');
      const startTimer = (callback) => { setTimeout(callback, 100); return () => {}; };
      const context = { allowedReceivers: () => false, resolve: createResolver(['${server}']), startTimer };
      const post = { url: 'https://hanging.example/', headers: {}, body: '{}' };
      console.log((await sendToReceiver(context, post)).error);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: `${import.meta.dirname}/../..`,
    });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    expect(String(said).trim()).toBe(late.error);
    // The tries of c-ares last 20 s, and would keep the process for as long.
    const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
    expect(code).toBe(0);
  }, 30_000);
});

describe('a name', () => {
  const dialledV6 = '2001:4860:4860::8888 443';

  it.each<[string, DnsAnswer, DnsAnswer, string[]]>([
    ['both families', [publicV4], [publicV6], [`${publicV4} 443`, dialledV6]],
    ['IPv4 alone', [publicV4], [], [`${publicV4} 443`]],
    ['IPv6 alone', [], [publicV6], [dialledV6]],
    ['IPv4, while the look-up of IPv6 fails', [publicV4], 'SERVFAIL', [`${publicV4} 443`]],
    ['IPv6, while the look-up of IPv4 fails', 'REFUSED', [publicV6], [dialledV6]],
    ['IPv4, while the look-up of IPv6 is not answered', [publicV4], 'silence', [`${publicV4} 443`]],
    ['IPv6 by NAT64 alone', [], ['64:ff9b:0:0:0:0:101:101'], ['64:ff9b::101:101 443']],
    ['IPv6 by NAT64 beside IPv4', ['1.1.1.1'], ['64:ff9b:0:0:0:0:101:101'], ['1.1.1.1 443', '64:ff9b::101:101 443']],
    ['none, beside a private one by NAT64', ['1.1.1.1'], ['64:ff9b:0:0:0:0:a00:1'], []],
    ['none, beside a public one', [publicV4], [privateV6], []],
    ['none, among public ones', ['1.1.1.1', '10.0.0.1'], [], []],
    ['none, while the look-up of IPv6 is not answered', ['169.254.169.254'], 'silence', []],
  ])('is dialled at each address that it has, unless one is not public: %s', async (_, A, AAAA, addresses) => {
    const dialled = stopDials();
    const { post } = await createAskingSender(always(A, AAAA));
    const { error, address } = await post('https://receiver.example/');
    expect(dialled).toEqual(addresses);
    expect(address).toBe(addresses.at(-1)?.split(' ')[0]);
    if (addresses.length === 0) expect(error).toBe('Not sent: the name resolves to an address that is not public.');
  });

  it.each<[string, DnsAnswer, string[]]>([
    ['is dialled by both families where IPv4 comes 7 s after IPv6', [publicV4], [`${publicV4} 443`, dialledV6]],
    ['is not dialled where a private IPv4 comes 7 s after IPv6', ['10.0.0.1'], []],
  ])('%s', async (_, late, addresses) => {
    const dialled = stopDials();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { promise: A, resolve: answer } = Promise.withResolvers<DnsAnswer>();
    const { post } = await createAskingSender(({ type }) => (type === 'A' ? A : [publicV6]));
    const ended = post('https://receiver.example/');
    await vi.waitUntil(() => vi.getTimerCount() === 1, { timeout: 15_000 });
    vi.advanceTimersByTime(7_000);
    answer(late);
    await ended;
    expect(dialled).toEqual(addresses);
  });

  it('is dialled by IPv6 8 s after its answer while the look-up of IPv4 is not answered', async () => {
    const dialled = stopDials();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { post } = await createAskingSender(always('silence', [publicV6]));
    const ended = post('https://receiver.example/');
    await vi.waitUntil(() => vi.getTimerCount() === 1, { timeout: 15_000 });
    vi.advanceTimersByTime(8_000);
    await ended;
    expect(dialled).toEqual([dialledV6]);
  });

  it.each<[string, DnsAnswer, DnsAnswer]>([
    ['that there is not', 'NXDOMAIN', 'NXDOMAIN'],
    ['without addresses', [], []],
    ['whose DNS servers fail', 'SERVFAIL', 'SERVFAIL'],
    ['that the DNS server refuses to look up', 'REFUSED', 'REFUSED'],
  ])('%s is one that could not be resolved', async (_, A, AAAA) => {
    const { post } = await createAskingSender(always(A, AAAA));
    expect(await post('https://receiver.example/')).toMatchObject(unresolved);
  });

  it('is one that could not be resolved where the DNS server itself cannot be reached', async () => {
    const send = createTestSender(readAllowedReceivers(''), { resolve: createResolver(['127.0.0.1:1']) });
    expect(await send({ url: 'https://receiver.example/', headers: {}, body: '{}' })).toMatchObject(unresolved);
  });
});

describe('localhost', () => {
  it.each(['localhost', 'localhost.', 'a.localhost'])(
    'is this machine where the operator allows it, and no DNS server is asked: %s',
    async (host) => {
      const dialled = stopDials();
      const { post, asked } = await createAskingSender(always([publicV4], []), `${host}:*`);
      await post(`http://${host}:3000/`);
      expect(dialled).toEqual(['127.0.0.1 3000', '::1 3000']);
      expect(asked).toEqual([]);
    },
  );

  it('is not looked up by getaddrinfo, whose threads other names can hold', async () => {
    const { port } = await startReceiver();
    const looked = vi.spyOn(dns, 'lookup');
    syncBuiltinESMExports();
    const send = createTestSender(readAllowedReceivers('localhost:*'));
    const url = `http://localhost:${port}/`;
    expect(await send({ url, headers: {}, body: '{}' })).toMatchObject({ httpStatus: 204 });
    expect(looked).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
});

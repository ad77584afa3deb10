import { isIP, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readAllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import type { Resolve } from '../../../lib/webhooks/sender/lookup.ts';
import { rejectUrl } from '../../../lib/webhooks/sender/receivers.ts';
import type { StartTimer } from '../../../lib/webhooks/sender/timer.ts';
import { stopDials } from './dials.ts';
import { createManualTimers } from './manual-timers.ts';
import { dangerousAddresses, publicAddresses, specialEnds } from './special-addresses.ts';
import { createTestSender } from './test-sender.ts';

const closed = readAllowedReceivers('');
const [publicV4 = '', publicV6 = ''] = publicAddresses;
const privates = [...dangerousAddresses, ...specialEnds];

let dialled: string[];

beforeEach(() => {
  dialled = stopDials();
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** A resolver that gives one answer after the other, and the names that it is asked for. */
function answering(...answers: string[][]) {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, _, callback) => {
    const answer = answers[asked.push(hostname) - 1] ?? [];
    setImmediate(() =>
      callback(
        null,
        answer.map((address) => ({ address, family: isIP(address) })),
      ),
    );
  };
  return { asked, resolve };
}

/** Posts to a URL, with this resolver and this timer of the deadline. */
const post = (
  url: string,
  { resolve }: { resolve: Resolve } = answering(),
  allowed = closed,
  startTimer?: StartTimer,
) => createTestSender(allowed, { resolve, ...(startTimer && { startTimer }) })({ url, headers: {}, body: '{}' });

const inUrl = (address: string) => (isIP(address) === 6 ? `[${address}]` : address);
const notSent = (why: string) => ({ httpStatus: 0, responseBody: '', timedOut: false, error: `Not sent: ${why}.` });
const privateUrl = notSent('url must not name an address that is not public');
const privateName = notSent('the name resolves to an address that is not public');
const late = { httpStatus: 0, timedOut: true, error: 'No answer within 10 s.' };
const unresolved = { httpStatus: 0, error: 'The name of the receiver could not be resolved.' };

describe('a dial', () => {
  it.each(publicAddresses)('goes to a public address that is written out: %s', async (address) => {
    const outcome = await post(`https://${inUrl(address)}/`);
    expect(dialled).toEqual([`${address} 443`]);
    expect(outcome).toMatchObject({ httpStatus: 0, error: 'The receiver refused the connection.' });
  });

  it.each(publicAddresses)('goes to the address that a name has, at the port of the URL: %s', async (address) => {
    const resolver = answering([address]);
    await post('https://receiver.example:8443/', resolver);
    expect(resolver.asked).toEqual(['receiver.example']);
    expect(dialled).toEqual([`${address} 8443`]);
  });

  it('goes to one address after the other of a name that has many', async () => {
    await post('https://receiver.example/', answering(['1.1.1.1', publicV4, '8.8.8.8']));
    expect([...dialled].sort()).toEqual(['1.1.1.1 443', '8.8.8.8 443', `${publicV4} 443`]);
  });

  it.each(['https://receiver.example/', 'http://receiver.example/'])(
    'gives each address of a name 3 s to connect, not the 250 ms of Node.js: %s',
    async (url) => {
      const connect = vi.spyOn(Socket.prototype, 'connect');
      await post(url, answering([publicV4, publicV6]), readAllowedReceivers('receiver.example:*'));
      expect(dialled).toHaveLength(2);
      // Node.js gives the method what `connect` was called with in an array.
      expect(connect.mock.calls.flat(2)[0]).toMatchObject({ autoSelectFamilyAttemptTimeout: 3_000 });
    },
  );

  it('asks for a name once, so that none can change between check and dial', async () => {
    const resolver = answering([publicV4], ['127.0.0.1']);
    await post('https://rebinding.example/', resolver);
    expect(resolver.asked).toHaveLength(1);
    expect(dialled).toEqual([`${publicV4} 443`]);
  });

  it('goes where the operator says, also by a name of the loopback', async () => {
    const allowed = readAllowedReceivers('localhost:*,10.0.0.1:*');
    await post('http://localhost:3000/', answering(['127.0.0.1']), allowed);
    await post('http://10.0.0.1:3000/', answering(), allowed);
    expect(dialled).toEqual(['127.0.0.1 3000', '10.0.0.1 3000']);
  });
});

describe('a dial without success', () => {
  it('has the text of an unreachable receiver', async () => {
    dialled = stopDials('ENETUNREACH');
    const outcome = await post(`https://${publicV4}/`);
    expect(outcome).toMatchObject({ httpStatus: 0, timedOut: false, error: 'The receiver could not be reached.' });
    expect(dialled).toHaveLength(1);
  });

  it.each([
    ['of one address', [publicV4]],
    ['of many addresses', Array.from({ length: 100 }, (_, index) => `8.8.8.${index}`)],
  ])('and without an answer ends at the deadline, at a name %s', async (_, addresses) => {
    dialled = stopDials('silence');
    const { startTimer, timers } = createManualTimers();
    const ended = post('https://receiver.example/', answering(addresses), closed, startTimer);
    await vi.waitUntil(() => dialled.length > 0, { timeout: 15_000 });
    timers[0]?.fire();
    expect(await ended).toMatchObject(late);
  });
});

describe('no dial', () => {
  it.each(privates)('goes to what is %s, written out: %s', async (_, address) => {
    expect(await post(`https://${inUrl(address)}/`)).toMatchObject(privateUrl);
    expect(dialled).toEqual([]);
  });

  it.each(privates)('goes to what is %s, as the address of a name: %s', async (_, address) => {
    expect(await post('https://receiver.example/', answering([address]))).toMatchObject(privateName);
    expect(dialled).toEqual([]);
  });

  it.each([
    ['as short as can be', '0'],
    ['in IPv6', '[::1]'],
    ['in IPv6, at its longest', '[0000:0000:0000:0000:0000:0000:0000:0001]'],
  ])('goes to the machine itself, spelled %s: %s', async (_, host) => {
    expect(await post(`https://${host}/`)).toMatchObject(privateUrl);
    expect(dialled).toEqual([]);
  });

  it.each(['::1%lo', 'fe80::1%eth0', `${publicV6}%eth0`, '127.1', '0x7f000001', 'localhost', ''])(
    'goes to what a resolver should not give: %j',
    async (address) => {
      expect(await post('https://receiver.example/', answering([address]))).toMatchObject(privateName);
      expect(dialled).toEqual([]);
    },
  );

  it.each([
    ['last', [publicV4, publicV6, '10.0.0.1']],
    ['first', ['::1', publicV4]],
  ])('goes to any address of a name that has a private one: %s', async (_, addresses) => {
    expect(await post('https://receiver.example/', answering(addresses))).toMatchObject(privateName);
    expect(dialled).toEqual([]);
  });

  it('goes to a name that was public before', async () => {
    const url = 'https://receiver.example/';
    const resolver = answering([publicV4], ['169.254.169.254']);
    rejectUrl(url, closed);
    await post(url, resolver);
    const before = [...dialled];
    expect(await post(url, resolver)).toMatchObject(privateName);
    expect(dialled).toEqual(before);
    expect(before).toHaveLength(1);
  });

  it.each(['localhost', 'LocalHost', 'localhost.', 'a.localhost', 'a.b.LOCALHOST.', 'ｌｏｃａｌｈｏｓｔ'])(
    'goes to a name of the loopback, whatever a resolver would say: %s',
    async (host) => {
      const resolver = answering([publicV4]);
      expect(await post(`https://${host}/`, resolver)).toMatchObject(notSent('localhost is not a public name'));
      expect(resolver.asked).toEqual([]);
      expect(dialled).toEqual([]);
    },
  );

  it('is kept from a name that only looks like one of the loopback', async () => {
    await post('https://notlocalhost/', answering([publicV4]));
    await post('https://localhost.example/', answering([publicV4]));
    expect(dialled).toHaveLength(2);
  });

  it.each([
    ['http', 'http://receiver.example/', 'url must be an https URL'],
    ['another port', 'https://receiver.example:8080/', 'url must use port 443 or 8443'],
    ['credentials', 'https://user:word@receiver.example/', 'url must not carry credentials'],
    ['no URL', 'receiver.example', 'url must be a URL'],
    ['an address with a zone', 'https://[fe80::1%25eth0]/', 'url must be a URL'],
  ])('is made for %s', async (_, url, why) => {
    const resolver = answering([publicV4]);
    expect(await post(url, resolver)).toMatchObject(notSent(why));
    expect(resolver.asked).toEqual([]);
    expect(dialled).toEqual([]);
  });
});

describe('a resolver', () => {
  it.each([
    ['', closed],
    [' that the operator opens', readAllowedReceivers('receiver.example:*')],
  ])('that finds no address of a name%s leaves nothing to dial', async (_, allowed) => {
    expect(await post('https://receiver.example/', answering([]), allowed)).toMatchObject(unresolved);
    expect(dialled).toEqual([]);
  });

  it.each(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'])('that fails with %s leaves nothing to dial', async (code) => {
    const resolve: Resolve = (_, __, callback) => callback(Object.assign(new Error('resolver.internal'), { code }), []);
    expect(await post('https://receiver.example/', { resolve })).toMatchObject(unresolved);
    expect(dialled).toEqual([]);
  });

  it('that hangs is waited for until the deadline', async () => {
    const { startTimer, timers } = createManualTimers();
    const resolve: Resolve = () => timers[0]?.fire();
    expect(await post('https://receiver.example/', { resolve }, closed, startTimer)).toMatchObject(late);
  });

  it.each([
    ['', closed],
    [' for a name that the operator opens', readAllowedReceivers('receiver.example:*')],
  ])('that answers after the deadline%s is not listened to', async (_, allowed) => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<Parameters<Resolve>[2]>();
    const { startTimer, timers } = createManualTimers();
    const resolve: Resolve = (_, __, callback) => ask(callback);
    const ended = post('https://receiver.example/', { resolve }, allowed, startTimer);
    const answer = await asked;
    timers[0]?.fire();
    expect(await ended).toMatchObject(late);
    answer(null, [{ address: publicV4, family: 4 }]);
    await new Promise(setImmediate);
    expect(dialled).toEqual([]);
  });
});

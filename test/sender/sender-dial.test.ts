import { isIP, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import type { Resolve } from '../../lib/sender/lookup.ts';
import { rejectUrl } from '../../lib/sender/receivers.ts';
import type { Sender, SenderContext } from '../../lib/sender/sender.ts';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { prepareTestWebhooks } from '../webhooks/test-webhooks.ts';
import { dangerousAddresses, publicAddresses, specialEnds } from './addresses/special-addresses.ts';
import { spelledAddresses } from './addresses/spelled-addresses.ts';
import { stopDials } from './dials.ts';
import { createManualTimers } from './manual-timers.ts';
import { createTestResolver, createTestSender, late, unresolved } from './test-sender.ts';

const createTestWebhooks = await prepareTestWebhooks();
const closed = readAllowedReceivers('');
const named = 'https://receiver.example/';
const [publicV4 = '', publicV6 = ''] = publicAddresses;

let dialled: string[];
beforeEach(() => {
  dialled = stopDials();
});
afterEach(() => vi.restoreAllMocks());

/** Posts to a URL, whose name has no address unless a resolver is given. */
const post = (url: string, given: Partial<SenderContext> = {}) => {
  const { allowedReceivers = closed, ...more } = given;
  return createTestSender(allowedReceivers, { ...createTestResolver(), ...more })({ url, headers: {}, body: '{}' });
};

const inUrl = (address: string) => (isIP(address) === 6 ? `[${address}]` : address);
const notSent = (why: string) => ({ httpStatus: 0, responseBody: '', timedOut: false, error: `Not sent: ${why}.` });
const privateUrl = notSent('url must not name an address that is not public');
const privateName = notSent('the name resolves to an address that is not public');

describe('a dial', () => {
  it.each(publicAddresses)(
    'goes to a public address, of a URL or of a name, at the port of the URL: %s',
    async (address) => {
      const outcome = await post(`https://${inUrl(address)}/`);
      expect(outcome).toMatchObject({ httpStatus: 0, error: 'The receiver refused the connection.' });
      const resolver = createTestResolver([address]);
      await post('https://receiver.example:8443/', resolver);
      expect(resolver.asked).toEqual(['receiver.example']);
      expect(dialled).toEqual([`${address} 443`, `${address} 8443`]);
    },
  );

  it('goes to one address after the other of a name that has many', async () => {
    await post(named, createTestResolver(['1.1.1.1', publicV4, '8.8.8.8']));
    expect([...dialled].sort()).toEqual(['1.1.1.1 443', '8.8.8.8 443', `${publicV4} 443`]);
  });

  it.each([named, 'http://receiver.example/'])(
    'gives each address of a name 3 s to connect, not the 250 ms of Node.js: %s',
    async (url) => {
      const connect = vi.spyOn(Socket.prototype, 'connect');
      const allowedReceivers = readAllowedReceivers('receiver.example:*');
      await post(url, { ...createTestResolver([publicV4, publicV6]), allowedReceivers });
      expect(dialled).toHaveLength(2);
      // Node.js gives the method what `connect` was called with in an array.
      expect(connect.mock.calls.flat(2)[0]).toMatchObject({ autoSelectFamilyAttemptTimeout: 3_000 });
    },
  );

  it('asks for a name once, so that none can change between check and dial', async () => {
    const resolver = createTestResolver([publicV4], ['127.0.0.1']);
    await post('https://rebinding.example/', resolver);
    expect(resolver.asked).toHaveLength(1);
    expect(dialled).toEqual([`${publicV4} 443`]);
  });

  it('goes where the operator says, also by a name of the loopback', async () => {
    const allowedReceivers = readAllowedReceivers('localhost:*,10.0.0.1:*');
    await post('http://localhost:3000/', { ...createTestResolver(['127.0.0.1']), allowedReceivers });
    await post('http://10.0.0.1:3000/', { allowedReceivers });
    expect(dialled).toEqual(['127.0.0.1 3000', '10.0.0.1 3000']);
  });

  it('without success has the text of an unreachable receiver', async () => {
    dialled = stopDials('ENETUNREACH');
    const error = 'The receiver could not be reached.';
    expect(await post(`https://${publicV4}/`)).toMatchObject({ httpStatus: 0, timedOut: false, error });
    expect(dialled).toHaveLength(1);
  });

  it.each([1, 100])('without an answer ends at the deadline, at a name of %i addresses', async (count) => {
    dialled = stopDials('silence');
    const { startTimer, timers } = createManualTimers();
    const addresses = Array.from({ length: count }, (_, index) => `8.8.8.${index}`);
    const ended = post(named, { ...createTestResolver(addresses), startTimer });
    await vi.waitUntil(() => dialled.length > 0, { timeout: 15_000 });
    timers[0]?.fire();
    expect(await ended).toMatchObject(late);
  });
});

describe('no dial', () => {
  afterEach(() => expect(dialled).toEqual([]));

  it.each([...dangerousAddresses, ...specialEnds])(
    'goes to what is %s, of a URL or of a name: %s',
    async (_, address) => {
      expect(await post(`https://${inUrl(address)}/`)).toMatchObject(privateUrl);
      expect(await post(named, createTestResolver([address]))).toMatchObject(privateName);
    },
  );

  it.each(spelledAddresses)(
    'goes to a spelled address, nor is it registered: $address, $spelling: $host',
    async ({ host }) => {
      const url = `https://${host}/latest/meta-data`;
      expect(await post(url, createTestResolver([publicV4]))).toMatchObject(privateUrl);
      expect(() => rejectUrl(url, closed)).toThrow(ApiError);
    },
  );

  it.each(['::1%lo', 'fe80::1%eth0', `${publicV6}%eth0`, '127.1', '0x7f000001', 'localhost', ''])(
    'goes to what a resolver should not give: %j',
    async (address) => {
      expect(await post(named, createTestResolver([address]))).toMatchObject(privateName);
    },
  );

  it.each([
    ['last', [publicV4, publicV6, '10.0.0.1']],
    ['first', ['::1', publicV4]],
  ])('goes to any address of a name that has a private one: %s', async (_, addresses) => {
    expect(await post(named, createTestResolver(addresses))).toMatchObject(privateName);
  });

  it.each(['localhost', 'LocalHost', 'localhost.', 'a.localhost', 'a.b.LOCALHOST.', 'ｌｏｃａｌｈｏｓｔ'])(
    'goes to a name of the loopback, whatever a resolver would say: %s',
    async (host) => {
      const resolver = createTestResolver([publicV4]);
      expect(await post(`https://${host}/`, resolver)).toMatchObject(notSent('localhost is not a public name'));
      expect(resolver.asked).toEqual([]);
    },
  );

  it.each([
    [
      'http',
      'http://receiver.example/',
      'url must be an https URL; http is only for receivers that the operator allows (ALLOWED_RECEIVERS)',
    ],
    ['another port', 'https://receiver.example:8080/', 'url must use port 443 or 8443'],
    ['credentials', 'https://user:word@receiver.example/', 'url must not carry credentials'],
    ['no URL', 'receiver.example', 'url must be a URL'],
    ['an address with a zone', 'https://[fe80::1%25eth0]/', 'url must be a URL'],
  ])('is made for %s', async (_, url, why) => {
    const resolver = createTestResolver([publicV4]);
    expect(await post(url, resolver)).toMatchObject(notSent(why));
    expect(resolver.asked).toEqual([]);
  });

  it.each(['', 'receiver.example:*'])('follows a look-up without success, where %j is allowed', async (allowed) => {
    const allowedReceivers = readAllowedReceivers(allowed);
    expect(await post(named, { ...createTestResolver([]), allowedReceivers })).toMatchObject(unresolved);
    for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL']) {
      const error = Object.assign(new Error('resolver.internal'), { code });
      const resolve: Resolve = (_, __, callback) => callback(error, []);
      expect(await post(named, { resolve, allowedReceivers })).toMatchObject(unresolved);
    }
  });

  it.each(['', 'receiver.example:*'])(
    'follows a look-up that ends after the deadline, where %j is allowed',
    async (allowed) => {
      const { promise: asked, resolve: ask } = Promise.withResolvers<Parameters<Resolve>[2]>();
      const { startTimer, timers } = createManualTimers();
      const resolve: Resolve = (_, __, callback) => ask(callback);
      const ended = post(named, { resolve, allowedReceivers: readAllowedReceivers(allowed), startTimer });
      const answer = await asked;
      timers[0]?.fire();
      expect(await ended).toMatchObject(late);
      answer(null, [{ address: publicV4, family: 4 }]);
      await new Promise(setImmediate);
    },
  );
});

it('a name that only looks like one of the loopback is dialled', async () => {
  await post('https://notlocalhost/', createTestResolver([publicV4]));
  await post('https://localhost.example/', createTestResolver([publicV4]));
  expect(dialled).toHaveLength(2);
});

it.each([
  ['a private address', ['10.0.0.1']],
  ['the metadata of a machine', ['169.254.169.254']],
  ['the metadata of a machine, over IPv6', ['fd00:ec2::254']],
  ['the loopback', ['::1']],
  ['a private address beside its public one', [publicV4, '192.168.0.1']],
])(
  'a registered name is not dialled while it has %s; the attempt is recorded and the next one looks anew',
  async (_, hostile) => {
    vi.restoreAllMocks();
    const webhooks = createTestWebhooks();
    const send = createTestSender(closed, createTestResolver(hostile, [publicV4], hostile));
    /** Stops dials only during the post, because the table is dialled too. */
    const sendWithoutDials: Sender = async (request) => {
      const stopped = stopDials();
      const outcome = await send(request);
      vi.restoreAllMocks();
      dialled.push(...stopped);
      return outcome;
    };
    let message = await webhooks.message({ url: named });
    for (const dials of [[], [`${publicV4} 443`], []]) {
      webhooks.clock.now = Date.parse(message.dueAt);
      dialled = [];
      await webhooks.deliver(message, sendWithoutDials);
      expect(dialled).toEqual(dials);
      message = webhooks.queue.sent.at(-1)?.message as typeof message;
    }
    const records = await webhooks.history(message.webhookId);
    expect(records.map(({ error }) => error)).toEqual([
      privateName.error,
      'The receiver refused the connection.',
      privateName.error,
    ]);
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'retrying', attempt: 4 });
  },
);

import { isIP } from 'node:net';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../lib/contract/errors.ts';
import { readAllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import type { Resolve } from '../../../lib/webhooks/sender/lookup.ts';
import { rejectUrl } from '../../../lib/webhooks/sender/receivers.ts';
import type { Sender } from '../../../lib/webhooks/sender/sender.ts';
import { prepareTestWebhooks } from '../test-webhooks.ts';
import { stopDials } from './dials.ts';
import { publicAddresses } from './special-addresses.ts';
import { spelledAddresses } from './spelled-addresses.ts';
import { createTestSender } from './test-sender.ts';

const createTestWebhooks = await prepareTestWebhooks();
const closed = readAllowedReceivers('');
const [publicAddress = ''] = publicAddresses;

/** What was dialled so far, while `watched` posted: the table is dialled too. */
const dialled: string[] = [];

beforeEach(() => {
  dialled.length = 0;
});

/** A sender whose dials are seen and stopped. */
const watched =
  (send: Sender): Sender =>
  async (post) => {
    const stopped = stopDials();
    const outcome = await send(post);
    vi.restoreAllMocks();
    dialled.push(...stopped);
    return outcome;
  };

/** Resolves a name to the addresses that it has at the moment. */
const resolverOf =
  (addresses: { now: string[] }): Resolve =>
  (_, __, callback) =>
    void setImmediate(() =>
      callback(
        null,
        addresses.now.map((address) => ({ address, family: isIP(address) })),
      ),
    );

describe('a forbidden address', () => {
  it.each(spelledAddresses)('is not dialled, nor registered: $address, $spelling: $host', async ({ host }) => {
    const url = `https://${host}/latest/meta-data`;
    const send = watched(createTestSender(closed, { resolve: resolverOf({ now: [publicAddress] }) }));
    expect(await send({ url, headers: {}, body: '{}' })).toMatchObject({
      httpStatus: 0,
      error: 'Not sent: url must not name an address that is not public.',
    });
    expect(dialled).toEqual([]);
    expect(() => rejectUrl(url, closed)).toThrow(ApiError);
  });
});

describe('a name that changes between registration and delivery', () => {
  it.each([
    ['a private address', ['10.0.0.1']],
    ['the metadata of a machine', ['169.254.169.254']],
    ['the metadata of a machine, over IPv6', ['fd00:ec2::254']],
    ['the loopback', ['::1']],
    ['a private address beside its public one', [publicAddress, '192.168.0.1']],
  ])('is not dialled while it has %s; the attempt is recorded and the next one looks anew', async (_, hostile) => {
    const webhooks = createTestWebhooks();
    const addresses = { now: [publicAddress] };
    const send = watched(createTestSender(closed, { resolve: resolverOf(addresses) }));
    const message = await webhooks.message({ url: 'https://receiver.example/' });
    const attemptNext = async (now: string[]) => {
      const next = webhooks.queue.sent.at(-1)?.message as typeof message;
      webhooks.clock.now = Date.parse(next.dueAt);
      addresses.now = now;
      await webhooks.deliver(next, send);
    };

    await attemptNext(hostile);
    expect(dialled).toEqual([]);
    await attemptNext([publicAddress]);
    expect(dialled).toEqual([`${publicAddress} 443`]);
    await attemptNext(hostile);
    expect(dialled).toHaveLength(1);

    const refused = 'Not sent: the name resolves to an address that is not public.';
    expect((await webhooks.history(message.webhookId)).map(({ httpStatus, error }) => ({ httpStatus, error }))).toEqual(
      [
        { httpStatus: 0, error: refused },
        { httpStatus: 0, error: 'The receiver refused the connection.' },
        { httpStatus: 0, error: refused },
      ],
    );
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'retrying', attempt: 4 });
  });
});

import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { ulid } from 'ulid';
import { describe, expect, it, vi } from 'vitest';
import {
  type Delivery,
  DeliveryRefused,
  type Reason,
  type Unverified,
  verifyWebhook,
} from '../../lib/client/verify-webhook.ts';
import { type EventName, eventNames } from '../../lib/contract/events.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import { sampleOf } from '../../lib/webhooks/samples.ts';
import { deliveryHeaders } from '../../lib/webhooks/sender/signature.ts';
import { fc } from '../seeded.ts';

// A spy on the real module: no result shows how digests are compared.
vi.mock('node:crypto', { spy: true });

const secret = 'a secret';
const sentAt = Date.parse('2026-03-01T12:00:00.999Z');
const minutes = (count: number) => count * 60_000;

/** Returns a delivery as the service sends it. */
function authentic(event: EventName = 'task.created', key = secret) {
  const deliveryId = `dlv_${ulid()}`;
  const delivery: Delivery = { ...sampleOf(event, ulid, sentAt), deliveryId, timestamp: timestamp(sentAt) };
  const body = JSON.stringify(delivery);
  return { delivery, body, headers: deliveryHeaders({ event, deliveryId, sentAt, body }, key) };
}

/** Returns a request with any body, signed with the secret. */
function signed(body: string | Uint8Array) {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return { body, headers: { ...authentic().headers, 'X-Service-Signature': signature } };
}

const verify = (given: Pick<Unverified, 'body' | 'headers'> & Partial<Unverified>) =>
  verifyWebhook({ secret, now: sentAt, ...given });

/** Returns the reason for which a delivery is rejected. */
function reasonOf(given: Parameters<typeof verify>[0]): Reason {
  try {
    verify(given);
  } catch (error) {
    if (error instanceof DeliveryRefused) return error.reason;
    throw error;
  }
  throw new Error('The delivery was accepted.');
}

describe('an authentic delivery', () => {
  it.each(eventNames)('is accepted and parsed: %s', (event) => {
    const { delivery, body, headers } = authentic(event);
    expect(verify({ body, headers })).toEqual(delivery);
  });

  it('is accepted as text, as a Buffer and as a Uint8Array', () => {
    const { delivery, body, headers } = authentic();
    const raw = Buffer.from(body);
    for (const given of [body, raw, new Uint8Array(raw)]) expect(verify({ body: given, headers })).toEqual(delivery);
  });

  it.each(['ü🚀', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '   ', 's'.repeat(256)])(
    'is verified with the bytes of the secret, unchanged: %j',
    (key) => {
      const { delivery, body, headers } = authentic('agent.failed', key);
      expect(verify({ body, headers, secret: key })).toEqual(delivery);
    },
  );

  it('is accepted with unknown fields, which a later version may add', () => {
    const { delivery } = authentic();
    const body = JSON.stringify({ ...delivery, data: { ...delivery.data, added: 1 }, added: 2 });
    const headers = { ...authentic().headers, ...signed(body).headers, 'X-Service-Delivery': delivery.deliveryId };
    expect(verify({ body, headers })).toMatchObject({ added: 2 });
  });
});

const ours = ['X-Service-Signature', 'X-Service-Event', 'X-Service-Delivery', 'X-Service-Timestamp'];

describe('the headers', () => {
  it('can be those of Node, of Fetch or a plain object, in upper or lower case', () => {
    const { delivery, body, headers } = authentic();
    const entries = Object.entries(headers);
    const incoming: IncomingHttpHeaders = Object.fromEntries(entries.map(([name, at]) => [name.toLowerCase(), at]));
    const shouted = Object.fromEntries(entries.map(([name, at]) => [name.toUpperCase(), at]));
    const distinct = Object.fromEntries(entries.map(([name, at]) => [name.toLowerCase(), [at]]));
    for (const given of [headers, incoming, shouted, distinct, new Headers(headers)])
      expect(verify({ body, headers: given })).toEqual(delivery);
  });

  it.each(ours)('are rejected without %s', (name) => {
    const { body, headers } = authentic();
    const { [name]: _, ...others } = headers;
    expect(reasonOf({ body, headers: others })).toBe('missing_header');
    expect(reasonOf({ body, headers: new Headers(others) })).toBe('missing_header');
    expect(reasonOf({ body, headers: { ...others, [name]: undefined } })).toBe('missing_header');
    expect(reasonOf({ body, headers: { ...others, [name]: [] } })).toBe('missing_header');
  });

  it.each(ours)('are rejected with a repeated %s, even with the same value', (name) => {
    const { body, headers } = authentic();
    const value = headers[name] as string;
    const appended = new Headers(headers);
    appended.append(name, value);
    expect(reasonOf({ body, headers: appended })).toBe('repeated_header');
    for (const repeated of [
      { [name]: [value, value] },
      { [name]: `${value}, ${value}` },
      { [name.toLowerCase()]: value },
    ])
      expect(reasonOf({ body, headers: { ...headers, ...repeated } })).toBe('repeated_header');
  });

  it.each([
    ['X-Service-Event', 'task.completed'],
    ['X-Service-Delivery', 'dlv_01K00000000000000000000000'],
    ['X-Service-Timestamp', String(Math.floor(sentAt / 1000) + 1)],
    ['X-Service-Timestamp', String(sentAt / 1000)],
    ['X-Service-Timestamp', ''],
    ['X-Service-Timestamp', '9'.repeat(100_000)],
  ])('are rejected if %s differs from the body: %.40s', (name, value) => {
    const { body, headers } = authentic();
    expect(reasonOf({ body, headers: { ...headers, [name]: value } })).toBe('header_mismatch');
  });

  it('lead to an error that mentions the secret if the signature is missing', () => {
    const { body } = authentic();
    expect(() => verify({ body, headers: {} })).toThrow(/without one, deliveries are not signed/);
  });
});

describe('the signature', () => {
  const { body, headers } = authentic();
  const right = headers['X-Service-Signature'] as string;
  const hex = right.slice('sha256='.length);

  it.each([
    ['of another length', right.slice(0, -1)],
    ['with a line break at its end', `${right}\n`],
    ['in upper case', `sha256=${hex.toUpperCase()}`],
    ['with the prefix of another algorithm', `sha1=${hex}`],
    ['without a prefix', hex],
    ['in base64', `sha256=${Buffer.from(hex, 'hex').toString('base64')}`],
    ['that is not ASCII', `sha256=${'ü'.repeat(64)}`],
    ['that is empty', ''],
    ['that is huge', `sha256=${'0'.repeat(1_000_000)}`],
  ])('is rejected %s', (_, signature) => {
    expect(reasonOf({ body, headers: { ...headers, 'X-Service-Signature': signature } })).toBe('wrong_signature');
  });

  it('is compared in constant time, as 32 bytes each', () => {
    vi.mocked(timingSafeEqual).mockClear();
    verify({ body, headers });
    expect(reasonOf({ body, headers, secret: 'another secret' })).toBe('wrong_signature');
    const lengths = vi.mocked(timingSafeEqual).mock.calls.map((pair) => pair.map(({ byteLength }) => byteLength));
    expect(lengths).toEqual([
      [32, 32],
      [32, 32],
    ]);
  });

  it('is rejected with another secret', () => {
    for (const other of ['another secret', 'a secret ', 'A secret'])
      expect(reasonOf({ body, headers, secret: other })).toBe('wrong_signature');
  });

  it('is rejected if its key is empty', () => {
    const forged = `sha256=${createHmac('sha256', '').update(body).digest('hex')}`;
    expect(reasonOf({ body, headers: { ...headers, 'X-Service-Signature': forged } })).toBe('wrong_signature');
  });

  it('is checked before the body is parsed', () => {
    for (const junk of ['', '{', 'null', '[]', Buffer.from([0xff, 0xfe])])
      expect(reasonOf({ body: junk, headers })).toBe('wrong_signature');
  });

  /** Returns copies of bytes, each with another bit changed. */
  const withEachBitFlipped = (bytes: Buffer) =>
    Array.from({ length: bytes.length * 8 }, (_, at) =>
      bytes.map((byte, index) => (index === at >> 3 ? byte ^ (1 << (at & 7)) : byte)),
    );

  it('is rejected if any bit of the signature or of the body is changed', () => {
    for (const flipped of withEachBitFlipped(Buffer.from(body)))
      expect(reasonOf({ body: flipped, headers })).toBe('wrong_signature');
    for (const flipped of withEachBitFlipped(Buffer.from(hex, 'hex'))) {
      const forged = { ...headers, 'X-Service-Signature': `sha256=${Buffer.from(flipped).toString('hex')}` };
      expect(reasonOf({ body, headers: forged })).toBe('wrong_signature');
    }
  });

  it('is rejected if the body is cut off or has additional bytes', () => {
    for (const changed of [body.slice(1), body.slice(0, -1), ` ${body}`, `${body}\n`, `\u{feff}${body}`])
      expect(reasonOf({ body: changed, headers })).toBe('wrong_signature');
  });

  it('does not accept a changed header', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ours),
        fc.nat(),
        fc.string({ unit: 'grapheme', maxLength: 3 }),
        (name, at, put) => {
          const value = headers[name] as string;
          const index = at % value.length;
          const changed = value.slice(0, index) + put + value.slice(index + 1);
          fc.pre(changed !== value);
          expect(() => verify({ body, headers: { ...headers, [name]: changed } })).toThrow(DeliveryRefused);
        },
      ),
    );
  });
});

describe('a signed body that is not a delivery', () => {
  const { delivery } = authentic();

  it.each([
    ['empty', ''],
    ['not JSON', '{"event":'],
    ['null', 'null'],
    ['a list', '[]'],
    ['with a byte order mark', `\u{feff}${JSON.stringify(delivery)}`],
    ...['event', 'deliveryId', 'timestamp', 'data'].map((field) => [
      `without ${field}`,
      JSON.stringify({ ...delivery, [field]: undefined }),
    ]),
    ['whose timestamp is a number', JSON.stringify({ ...delivery, timestamp: sentAt })],
    ['whose timestamp is not a time', JSON.stringify({ ...delivery, timestamp: 'yesterday' })],
    ['whose data is null', JSON.stringify({ ...delivery, data: null })],
  ])('is rejected: %s', (_, body) => {
    expect(reasonOf(signed(body))).toBe('malformed_body');
  });

  it('is rejected if it is not valid UTF-8', () => {
    const raw = Buffer.from(JSON.stringify({ ...delivery, data: { title: '?' } }));
    raw.writeUInt8(0xff, raw.indexOf('?'));
    expect(reasonOf(signed(raw))).toBe('malformed_body');
    expect(reasonOf(signed(Buffer.from([0xed, 0xa0, 0x80])))).toBe('malformed_body');
  });
});

describe('the age of a delivery', () => {
  it('can be five minutes in the past or in the future', () => {
    const { delivery, body, headers } = authentic();
    for (const now of [sentAt + minutes(5), sentAt - minutes(5)])
      expect(verify({ body, headers, now })).toEqual(delivery);
  });

  it('is rejected beyond five minutes', () => {
    const { body, headers } = authentic();
    expect(reasonOf({ body, headers, now: sentAt + minutes(5) + 1 })).toBe('too_old');
    expect(reasonOf({ body, headers, now: sentAt - minutes(5) - 1 })).toBe('too_new');
  });

  it('depends on the timestamp in the signed body, not on the header', () => {
    const { body, headers } = authentic();
    const now = sentAt + minutes(6);
    const fresh = { ...headers, 'X-Service-Timestamp': String(Math.floor(now / 1000)) };
    expect(reasonOf({ body, headers: fresh, now })).toBe('too_old');
  });

  it('is compared with the given tolerance', () => {
    const { delivery, body, headers } = authentic();
    expect(reasonOf({ body, headers, now: sentAt + 1001, toleranceMs: 1000 })).toBe('too_old');
    expect(verify({ body, headers, now: sentAt + minutes(60), toleranceMs: minutes(60) })).toEqual(delivery);
  });

  it('is computed with the clock of the machine if no time is given', () => {
    const { body, headers } = authentic();
    expect(() => verifyWebhook({ body, headers, secret })).toThrow(/too old/);
  });

  it('is rejected if the time or the tolerance is NaN', () => {
    const { body, headers } = authentic();
    expect(reasonOf({ body, headers, now: Number.NaN })).toBe('too_old');
    expect(reasonOf({ body, headers, toleranceMs: Number.NaN })).toBe('too_old');
  });
});

describe('a mistake in the receiver', () => {
  it('throws a TypeError if the secret is empty or missing, with any signature', () => {
    const { body, headers } = authentic();
    const forged = `sha256=${createHmac('sha256', '').update(body).digest('hex')}`;
    for (const empty of ['', undefined as unknown as string])
      expect(() =>
        verifyWebhook({ body, headers: { ...headers, 'X-Service-Signature': forged }, secret: empty, now: sentAt }),
      ).toThrow(new TypeError('secret is empty; pass the secret that the webhook was registered with.'));
  });

  it('throws a TypeError if the body is already parsed', () => {
    const { body, headers } = authentic();
    expect(() => verify({ body: JSON.parse(body), headers })).toThrow(
      new TypeError(
        'body is not the raw body as bytes or text; disable the body parser of your framework for this route.',
      ),
    );
  });
});

it('the module imports only node:crypto, so that it can be copied as one file', () => {
  const source = readFileSync('lib/client/verify-webhook.ts', 'utf8');
  expect([...source.matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)/g)].map(([, name]) => name)).toEqual([
    'node:crypto',
  ]);
});

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { runInNewContext } from 'node:vm';
import { ulid } from 'ulid';
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest';
import type { Deliveries } from '../../lib/client/operations.ts';
import {
  type Delivery,
  DeliveryRefused,
  type Reason,
  type Unverified,
  verifyWebhook,
} from '../../lib/client/verify-webhook.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import { type EventName, eventNames } from '../../lib/contract/webhooks/events.ts';
import { deliveryHeaders } from '../../lib/sender/signature.ts';
import { sampleOf } from '../../lib/webhooks/samples.ts';
import { fc } from '../seeded.ts';

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
async function reasonOf(given: Parameters<typeof verify>[0]): Promise<Reason> {
  try {
    await verify(given);
  } catch (error) {
    if (error instanceof DeliveryRefused) return error.reason;
    throw error;
  }
  throw new Error('The delivery was accepted.');
}

describe('an authentic delivery', () => {
  it.each(eventNames)('is accepted and parsed: %s', async (event) => {
    const { delivery, body, headers } = authentic(event);
    expect(await verify({ body, headers })).toEqual(delivery);
  });

  // The compiler checks these types, as part of npm run check.
  it('has the type of the generated types', () => {
    expectTypeOf<Delivery>().toExtend<Deliveries[EventName]>();
    expectTypeOf<Deliveries[EventName]>().toExtend<Delivery>();
  });

  it('is accepted as text and as each kind of bytes', async () => {
    const { delivery, body: written } = authentic();
    const { event, deliveryId } = delivery;
    // With spaces, so that the elements of each view are whole.
    const body = written.padEnd(Math.ceil(written.length / 8) * 8);
    const headers = deliveryHeaders({ event, deliveryId, sentAt, body }, secret);
    const raw = Buffer.from(body);
    const [shared, ofOtherRealm, longer] = [
      new SharedArrayBuffer(raw.length),
      runInNewContext(`new ArrayBuffer(${raw.length})`) as ArrayBuffer,
      new ArrayBuffer(raw.length + 16),
    ];
    new Uint8Array(shared).set(raw);
    new Uint8Array(ofOtherRealm).set(raw);
    new Uint8Array(longer).set(raw, 8);
    const part = [longer, 8, raw.length] as const;
    const given = [
      ...[body, raw, new Uint8Array(raw), await new Response(body).arrayBuffer(), ofOtherRealm, new Uint8Array(shared)],
      ...[new Uint8Array(...part), new Uint8ClampedArray(...part), new Int8Array(...part), new DataView(...part)],
      ...[new Uint16Array(longer, 8, raw.length / 2), new Float64Array(longer, 8, raw.length / 8)],
    ];
    for (const each of given) expect(await verify({ body: each, headers })).toEqual(delivery);
  });

  it.each(['ü🚀', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '   ', 's'.repeat(256)])(
    'is verified with the bytes of the secret, unchanged: %j',
    async (key) => {
      const { delivery, body, headers } = authentic('agent.failed', key);
      expect(await verify({ body, headers, secret: key })).toEqual(delivery);
    },
  );

  it('is accepted with unknown fields, which a later version may add', async () => {
    const { delivery } = authentic();
    const body = JSON.stringify({ ...delivery, data: { ...delivery.data, added: 1 }, added: 2 });
    const headers = { ...authentic().headers, ...signed(body).headers, 'X-Service-Delivery': delivery.deliveryId };
    expect(await verify({ body, headers })).toMatchObject({ added: 2 });
  });
});

const ours = ['X-Service-Signature', 'X-Service-Event', 'X-Service-Delivery', 'X-Service-Timestamp'];

describe('the headers', () => {
  it('can be those of Node, of Fetch or a plain object, in upper or lower case', async () => {
    const { delivery, body, headers } = authentic();
    const entries = Object.entries(headers);
    const incoming: IncomingHttpHeaders = Object.fromEntries(entries.map(([name, at]) => [name.toLowerCase(), at]));
    const shouted = Object.fromEntries(entries.map(([name, at]) => [name.toUpperCase(), at]));
    const distinct = Object.fromEntries(entries.map(([name, at]) => [name.toLowerCase(), [at]]));
    for (const given of [headers, incoming, shouted, distinct, new Headers(headers)])
      expect(await verify({ body, headers: given })).toEqual(delivery);
  });

  it.each(ours)('are rejected without %s', async (name) => {
    const { body, headers } = authentic();
    const { [name]: _, ...others } = headers;
    expect(await reasonOf({ body, headers: others })).toBe('missing_header');
    expect(await reasonOf({ body, headers: new Headers(others) })).toBe('missing_header');
    expect(await reasonOf({ body, headers: { ...others, [name]: undefined } })).toBe('missing_header');
    expect(await reasonOf({ body, headers: { ...others, [name]: [] } })).toBe('missing_header');
  });

  it.each(ours)('are rejected with a repeated %s, even with the same value', async (name) => {
    const { body, headers } = authentic();
    const value = headers[name] as string;
    const appended = new Headers(headers);
    appended.append(name, value);
    expect(await reasonOf({ body, headers: appended })).toBe('repeated_header');
    for (const repeated of [
      { [name]: [value, value] },
      { [name]: `${value}, ${value}` },
      { [name.toLowerCase()]: value },
    ])
      expect(await reasonOf({ body, headers: { ...headers, ...repeated } })).toBe('repeated_header');
  });

  it.each([
    ['X-Service-Event', 'task.completed'],
    ['X-Service-Delivery', 'dlv_01K00000000000000000000000'],
    ['X-Service-Timestamp', String(Math.floor(sentAt / 1000) + 1)],
    ['X-Service-Timestamp', String(sentAt / 1000)],
    ['X-Service-Timestamp', ''],
    ['X-Service-Timestamp', '9'.repeat(100_000)],
  ])('are rejected if %s differs from the body: %.40s', async (name, value) => {
    const { body, headers } = authentic();
    expect(await reasonOf({ body, headers: { ...headers, [name]: value } })).toBe('header_mismatch');
  });

  it('lead to an error that mentions the secret if the signature is missing', async () => {
    const { body } = authentic();
    await expect(verify({ body, headers: {} })).rejects.toThrow(/without one, deliveries are not signed/);
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
  ])('is rejected %s', async (_, signature) => {
    expect(await reasonOf({ body, headers: { ...headers, 'X-Service-Signature': signature } })).toBe('wrong_signature');
  });

  it('is compared in constant time, by Web Crypto', async () => {
    // A spy on the real function: no result shows how signatures are compared.
    const compared = vi.spyOn(crypto.subtle, 'verify');
    onTestFinished(() => compared.mockRestore());
    await verify({ body, headers });
    expect(await reasonOf({ body, headers, secret: 'another secret' })).toBe('wrong_signature');
    expect(compared.mock.calls.map(([name, , signature]) => [name, signature.byteLength])).toEqual([
      ['HMAC', 32],
      ['HMAC', 32],
    ]);
  });

  it('is that of the body at the time of the call', async () => {
    const bytes = new TextEncoder().encode(body);
    const verified = verify({ body: bytes, headers });
    bytes.fill(0);
    expect(await verified).toEqual(JSON.parse(body));
  });

  it('is rejected with another secret', async () => {
    for (const other of ['another secret', 'a secret ', 'A secret'])
      expect(await reasonOf({ body, headers, secret: other })).toBe('wrong_signature');
  });

  it('is rejected if its key is empty', async () => {
    const forged = `sha256=${createHmac('sha256', '').update(body).digest('hex')}`;
    expect(await reasonOf({ body, headers: { ...headers, 'X-Service-Signature': forged } })).toBe('wrong_signature');
  });

  it('is checked before the body is parsed', async () => {
    for (const junk of ['', '{', 'null', '[]', Buffer.from([0xff, 0xfe])])
      expect(await reasonOf({ body: junk, headers })).toBe('wrong_signature');
  });

  /** Returns copies of bytes, each with another bit changed. */
  const withEachBitFlipped = (bytes: Buffer) =>
    Array.from({ length: bytes.length * 8 }, (_, at) =>
      bytes.map((byte, index) => (index === at >> 3 ? byte ^ (1 << (at & 7)) : byte)),
    );

  it('is rejected if any bit of the signature or of the body is changed', async () => {
    for (const flipped of withEachBitFlipped(Buffer.from(body)))
      expect(await reasonOf({ body: flipped, headers })).toBe('wrong_signature');
    for (const flipped of withEachBitFlipped(Buffer.from(hex, 'hex'))) {
      const forged = { ...headers, 'X-Service-Signature': `sha256=${Buffer.from(flipped).toString('hex')}` };
      expect(await reasonOf({ body, headers: forged })).toBe('wrong_signature');
    }
  });

  it('is rejected if the body is cut off or has additional bytes', async () => {
    for (const changed of [body.slice(1), body.slice(0, -1), ` ${body}`, `${body}\n`, `\u{feff}${body}`])
      expect(await reasonOf({ body: changed, headers })).toBe('wrong_signature');
  });

  it('does not accept a changed header', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ours),
        fc.nat(),
        fc.string({ unit: 'grapheme', maxLength: 3 }),
        async (name, at, put) => {
          const value = headers[name] as string;
          const index = at % value.length;
          const changed = value.slice(0, index) + put + value.slice(index + 1);
          fc.pre(changed !== value);
          await expect(verify({ body, headers: { ...headers, [name]: changed } })).rejects.toThrow(DeliveryRefused);
        },
      ),
    );
  });
});

describe('during a rotation of the secret', () => {
  const [before, after, other] = ['the secret before', 'the secret after', 'another secret'] as const;
  const previous = 'X-Service-Signature-Previous';
  const { delivery, body, headers: signedBefore } = authentic('task.created', before);
  const signatureBefore = signedBefore['X-Service-Signature'] as string;
  const { deliveryId, event } = delivery;
  const headers = deliveryHeaders({ event, deliveryId, sentAt, body }, after, before);

  it('a delivery is accepted with the old secret and with the new one', async () => {
    for (const accepted of [before, after]) {
      expect(await verify({ body, headers, secret: accepted })).toEqual(delivery);
      expect(await verify({ body, headers: new Headers(headers), secret: accepted })).toEqual(delivery);
    }
    expect(await reasonOf({ body, headers, secret: other })).toBe('wrong_signature');
  });

  it('a receiver can have both secrets, before, during and after the overlap', async () => {
    const signedAfter = deliveryHeaders({ event, deliveryId, sentAt, body }, after);
    for (const given of [signedBefore, headers, signedAfter])
      for (const accepted of [
        [before, after],
        [after, before],
      ])
        expect(await verify({ body, headers: given, secret: accepted })).toEqual(delivery);
    expect(await reasonOf({ body, headers: signedAfter, secret: [before, other] })).toBe('wrong_signature');
  });

  it('a delivery is rejected if the signature of the body is missing, or the one of the old secret is repeated', async () => {
    const { 'X-Service-Signature': _, ...others } = headers;
    expect(await reasonOf({ body, headers: others, secret: before })).toBe('missing_header');
    const repeated = { ...headers, [previous]: [signatureBefore, signatureBefore] };
    expect(await reasonOf({ body, headers: repeated, secret: after })).toBe('repeated_header');
  });

  it('a delivery is rejected if the body or the signature of the old secret is changed', async () => {
    expect(await reasonOf({ body: `${body} `, headers, secret: before })).toBe('wrong_signature');
    for (const changed of ['', `${signatureBefore}0`, signatureBefore.toUpperCase(), `sha256=${'0'.repeat(64)}`])
      expect(await reasonOf({ body, headers: { ...headers, [previous]: changed }, secret: before })).toBe(
        'wrong_signature',
      );
  });

  it('a list of secrets that is empty, or has an empty secret, throws a TypeError', async () => {
    for (const empty of [[], [''], [after, '']])
      await expect(verify({ body, headers, secret: empty })).rejects.toThrow(/^secret is empty/);
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
  ])('is rejected: %s', async (_, body) => {
    expect(await reasonOf(signed(body))).toBe('malformed_body');
  });

  it('is rejected if it is not valid UTF-8', async () => {
    const raw = Buffer.from(JSON.stringify({ ...delivery, data: { title: '?' } }));
    raw.writeUInt8(0xff, raw.indexOf('?'));
    expect(await reasonOf(signed(raw))).toBe('malformed_body');
    expect(await reasonOf(signed(Buffer.from([0xed, 0xa0, 0x80])))).toBe('malformed_body');
  });
});

describe('the age of a delivery', () => {
  it('can be five minutes in the past or in the future', async () => {
    const { delivery, body, headers } = authentic();
    for (const now of [sentAt + minutes(5), sentAt - minutes(5)])
      expect(await verify({ body, headers, now })).toEqual(delivery);
  });

  it('is rejected beyond five minutes', async () => {
    const { body, headers } = authentic();
    expect(await reasonOf({ body, headers, now: sentAt + minutes(5) + 1 })).toBe('too_old');
    expect(await reasonOf({ body, headers, now: sentAt - minutes(5) - 1 })).toBe('too_new');
  });

  it('depends on the timestamp in the signed body, not on the header', async () => {
    const { body, headers } = authentic();
    const now = sentAt + minutes(6);
    const fresh = { ...headers, 'X-Service-Timestamp': String(Math.floor(now / 1000)) };
    expect(await reasonOf({ body, headers: fresh, now })).toBe('too_old');
  });

  it('is compared with the given tolerance', async () => {
    const { delivery, body, headers } = authentic();
    expect(await reasonOf({ body, headers, now: sentAt + 1001, toleranceMs: 1000 })).toBe('too_old');
    expect(await verify({ body, headers, now: sentAt + minutes(60), toleranceMs: minutes(60) })).toEqual(delivery);
  });

  it('is computed with the clock of the machine if no time is given', async () => {
    const { body, headers } = authentic();
    await expect(verifyWebhook({ body, headers, secret })).rejects.toThrow(/too old/);
  });

  it('is rejected if the time or the tolerance is NaN', async () => {
    const { body, headers } = authentic();
    expect(await reasonOf({ body, headers, now: Number.NaN })).toBe('too_old');
    expect(await reasonOf({ body, headers, toleranceMs: Number.NaN })).toBe('too_old');
  });
});

describe('a mistake in the receiver', () => {
  it('throws a TypeError if the secret is empty or missing, with any signature', async () => {
    const { body, headers } = authentic();
    const forged = `sha256=${createHmac('sha256', '').update(body).digest('hex')}`;
    for (const empty of ['', undefined as unknown as string])
      await expect(
        verifyWebhook({ body, headers: { ...headers, 'X-Service-Signature': forged }, secret: empty, now: sentAt }),
      ).rejects.toThrow(new TypeError('secret is empty; pass the secret that the webhook was registered with.'));
  });

  it.each([`${secret}\n`, ` ${secret}`, `${secret}\r\n`, `\ufeff${secret}`])(
    'names white space at the ends of the secret: %j',
    async (padded) => {
      const { body, headers } = authentic();
      const hint = /The secret has white space at its ends, such as the line break of a file; remove it/;
      await expect(verify({ body, headers, secret: padded })).rejects.toThrow(hint);
      await expect(verify({ body, headers, secret: ['another secret', padded] })).rejects.toThrow(hint);
      await expect(verify({ body, headers, secret: 'another secret' })).rejects.toThrow(/body is raw\.$/);
    },
  );

  it('throws a TypeError if the body is already parsed', async () => {
    const { body, headers } = authentic();
    for (const parsed of [JSON.parse(body), [], null, undefined, 1, { [Symbol.toStringTag]: 'Uint8Array' }])
      await expect(verify({ body: parsed, headers })).rejects.toThrow(
        new TypeError(
          'body is not the raw body as bytes or text; disable the body parser of your framework for this route.',
        ),
      );
  });
});

it('the module imports nothing, so that it can be copied as one file', () => {
  const source = readFileSync('lib/client/verify-webhook.ts', 'utf8');
  expect(source).not.toMatch(/\bfrom '|\bimport\b\s*['(]/);
});

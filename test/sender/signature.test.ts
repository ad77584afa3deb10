import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { deliveryHeaders } from '../../lib/sender/signature.ts';

const sentAt = Date.parse('2026-03-01T12:00:00.999Z');
const deliveryId = 'dlv_01K00000000000000000000000';
const body = '{"event":"task.created","data":{"task":{"title":"Grüße 🚀"}}}';
const attempt = { event: 'task.created', deliveryId, sentAt, body };

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(Buffer.from(text, 'utf8'));

describe('the headers of an attempt', () => {
  it('name the event, the delivery and the moment in whole Unix seconds, rounded down', () => {
    expect(deliveryHeaders(attempt)).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': 'Crewboard-Webhooks/1',
      'X-Service-Event': 'task.created',
      'X-Service-Delivery': 'dlv_01K00000000000000000000000',
      'X-Service-Timestamp': '1772366400',
    });
  });

  it.each([undefined, ''])('have no signature of any kind without a secret: %j', (secret) => {
    expect(deliveryHeaders(attempt, secret)).toEqual(deliveryHeaders(attempt));
  });

  it.each(['a secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'ü🚀', ' '.repeat(3)])(
    'sign the raw body under the bytes of the secret as given: %j',
    (secret) => {
      const expected = hmac(Buffer.from(secret, 'utf8'), body).digest('hex');
      expect(deliveryHeaders(attempt, secret)).toEqual({
        ...deliveryHeaders(attempt),
        'X-Service-Signature': `sha256=${expected}`,
        'webhook-id': deliveryId,
        'webhook-timestamp': '1772366400',
        'webhook-signature': expect.stringMatching(/^v1,/),
      });
    },
  );
});

describe('during the overlap of a rotation', () => {
  const [next, previous] = ['the next secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] as const;
  const now = { ...attempt, sentAt: Date.now() };

  it('the headers have the signatures of both secrets, the new one first', () => {
    const old = deliveryHeaders(attempt, previous);
    const {
      'X-Service-Signature': signature,
      'webhook-signature': standard,
      ...others
    } = deliveryHeaders(attempt, next);
    expect(deliveryHeaders(attempt, next, previous)).toEqual({
      ...others,
      'X-Service-Signature': signature,
      'X-Service-Signature-Previous': old['X-Service-Signature'],
      'webhook-signature': `${standard} ${old['webhook-signature']}`,
    });
  });

  it('the public library takes them with the old secret and with the new one, and with no other', () => {
    const headers = deliveryHeaders(now, next, previous);
    for (const key of [previous, Buffer.from(next).toString('base64')])
      expect(new Webhook(key).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(Buffer.from('another secret').toString('base64')).verify(body, headers)).toThrow();
  });

  it('an empty secret signs nothing, as either of the two', () => {
    expect(deliveryHeaders(attempt, '', previous)).toEqual(deliveryHeaders(attempt));
    expect(deliveryHeaders(attempt, next, '')).toEqual(deliveryHeaders(attempt, next));
  });
});

describe('the Standard Webhooks headers', () => {
  const now = { ...attempt, sentAt: Date.now() };

  it('are taken by the public library for a whsec_ secret', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    expect(new Webhook(secret).verify(body, deliveryHeaders(now, secret))).toEqual(JSON.parse(body));
  });

  it.each(['a secret', 'ü🚀', 'whsec_not base64!', 'whsec_'])(
    'are taken for the bytes of a plain secret: %j',
    (secret) => {
      const key = Buffer.from(secret, 'utf8').toString('base64');
      expect(new Webhook(key).verify(body, deliveryHeaders(now, secret))).toEqual(JSON.parse(body));
    },
  );

  it('are not taken for another body, another secret or another delivery', () => {
    const headers = deliveryHeaders(now, 'a secret');
    const library = new Webhook(Buffer.from('a secret').toString('base64'));
    expect(() => library.verify(`${body} `, headers)).toThrow();
    expect(() => library.verify(body, { ...headers, 'webhook-id': 'dlv_other' })).toThrow();
    expect(() => library.verify(body, deliveryHeaders(now, 'another secret'))).toThrow();
  });

  it.each(['whsec_A', 'whsec_A=='])('never have an empty key, which allows forged signatures: %s', (secret) => {
    const { 'webhook-id': id, 'webhook-timestamp': seconds, ...headers } = deliveryHeaders(attempt, secret);
    expect(headers['webhook-signature']).not.toBe(`v1,${hmac('', `${id}.${seconds}.${body}`).digest('base64')}`);
  });
});

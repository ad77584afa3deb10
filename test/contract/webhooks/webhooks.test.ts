import { describe, expect, it } from 'vitest';
import { validate } from '../../../lib/contract/requests/validate.ts';
import { WebhookId } from '../../../lib/contract/shapes.ts';
import { eventNames } from '../../../lib/contract/webhooks/events.ts';
import {
  listDeliveries,
  registerWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from '../../../lib/contract/webhooks/webhooks.ts';
import { unknownEvent } from '../../values/unknown-event.ts';
import { errorsOf, ids, testFields, testPage, texts, words } from '../fields.ts';

const urlOf = (length: number) => 'https://example.com/'.padEnd(length, 'x');

describe('a registration', () => {
  const required = { url: 'https://example.com/hooks', events: ['task.created'] };

  it('requires a url and events, and has no default for the secret', () => {
    expect(validate(registerWebhook.body, required)).toEqual({ output: required, errors: [] });
    expect(errorsOf(registerWebhook.body, {})).toEqual(['url required', 'events required']);
  });

  testFields(registerWebhook.body, required, {
    url: {
      valid: [urlOf(2_048)],
      invalid: ['', urlOf(2_049), '/hooks', 'example.com', 'https://', 'https://example.com:65536/'],
      ofOtherType: [null],
    },
    events: {
      valid: [[...eventNames].reverse()],
      invalid: [[], ['task.created', 'task.created']],
      ofOtherType: [null, 'task.created'],
    },
    secret: { ...texts(256), ofOtherType: [null, 12_345_678] },
  });

  it.each([registerWebhook, updateWebhook])('has a URL without the white space at its ends: $method', ({ body }) => {
    const given = { ...required, url: ' \n\thttps://example.com/a%20b\u00a0\r\n' };
    expect(validate(body, given)).toMatchObject({ output: { url: 'https://example.com/a%20b' }, errors: [] });
  });

  it.each([
    ...['https://example.com/a b', 'https://exa mple.com/', 'https://example.com/a\tb', 'https://example.com/\nb'],
    ...[
      'https://example.com/\u00a0b',
      'https://example.com/\u3000b',
      'https://example.com/\u0000',
      'https://a\u007fb.com/',
    ],
    ...[
      'https://example.com/\u0085b',
      'https:\\\\example.com\\a',
      'https://example.com\\@10.0.0.1/',
      'https://example.com/\\',
    ],
    ...[
      'https:example.com',
      'https:/example.com',
      'https:///example.com',
      'https:////example.com',
      'https:?a',
      '//a.com',
    ],
  ])('has no URL that parsers correct: %j', (url) => {
    for (const { body } of [registerWebhook, updateWebhook])
      expect(errorsOf(body, { ...required, url })).toEqual(['url invalid_value']);
  });

  it('names the place of an unknown event', () => {
    const body = { ...required, events: ['task.created', unknownEvent] };
    expect(errorsOf(registerWebhook.body, body)).toEqual(['events.1 invalid_value']);
  });
});

describe.each([
  ['a registration', registerWebhook.body, { url: 'https://example.com/hooks', events: ['task.created'] }],
  ['a rotation', rotateWebhookSecret.body, {}],
] as const)('the secret of %s', (_, schema, fields) => {
  it.each([
    ...['whsec_QQ==', 'whsec_QUI=', 'whsec_QUJD', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_+/+/'],
    // Without the prefix it is not decoded.
    ...['QQ', ' whsec_A', 'WHSEC_A', 'whsec', 'whsec-A', 'secret'],
  ])('can be %j', (secret) => {
    expect(errorsOf(schema, { ...fields, secret })).toEqual([]);
  });

  it.each([
    ...['whsec_', 'whsec_A', 'whsec_QQ', 'whsec_QQ=', 'whsec_QUI', 'whsec_=', 'whsec_QQ===', 'whsec_QUJD='],
    // Not canonical: the last bits of the last letter are not zero.
    ...['whsec_QR==', 'whsec_QUJ='],
    ...['whsec_-_-_', 'whsec_QUJD\n', 'whsec_QU JD', 'whsec_ QUJD', 'whsec_QQ==QUJD', 'whsec_not base64!', 'whsec_é'],
  ])('cannot be %j, which libraries would read differently', (secret) => {
    const { errors } = validate(schema, { ...fields, secret });
    expect(errors).toMatchObject([{ path: 'secret', message: expect.stringContaining('base64 with its padding') }]);
  });
});

describe('a test event', () => {
  const invalid = [null, unknownEvent, 'TASK.CREATED', ['task.created']];
  testFields(testWebhook.body, {}, { event: { valid: [...eventNames], invalid } });

  it('is required', () => expect(errorsOf(testWebhook.body, {})).toEqual(['event required']));
});

describe('the query of a list of deliveries', () => {
  testPage(listDeliveries.query);
  const times = [
    ...['2026-03-01', '2026-03-01T12:00:00', '2026-03-01T12:00Z', '2026-03-01 12:00:00Z', '2026-3-01T12:00:00Z', 'now'],
    ...['2026-02-29T12:00:00Z', '2026-04-31T12:00:00Z', '2026-13-01T12:00:00Z', '2026-00-01T12:00:00Z'],
    ...['2026-03-01T24:00:00Z', '2026-03-01T12:60:00Z', '2026-03-01T12:00:60Z', '2026-03-01T12:00:00+24:00'],
    ...['2026-03-01T12:00:00 02:00', '2026-03-01T12:00:00Z\n', '1772366400000', ''],
    ...['9999-12-31T23:59:59-00:01', '0000-01-01T00:00:00+00:01'],
  ];
  testFields(
    listDeliveries.query,
    {},
    {
      status: words('delivered', 'failed'),
      event: words(...eventNames),
      since: { valid: [], invalid: times },
      until: { valid: [], invalid: times },
    },
  );

  it.each([
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00.123456789Z', '2026-03-01T12:00:00.123Z'],
    ['2026-03-01T12:00:00+02:00', '2026-03-01T10:00:00.000Z'],
    ['2026-02-28T23:30:00-01:30', '2026-03-01T01:00:00.000Z'],
    ['2026-03-01t12:00:00z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01t12:00:00.5+02:00', '2026-03-01T10:00:00.500Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
  ])('reads the time %s as %s', (given, time) => {
    expect(validate(listDeliveries.query, { since: given, until: given }).output).toMatchObject({
      since: Date.parse(time),
      until: Date.parse(time),
    });
  });

  it('has no since after until', () => {
    const [early, late] = ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.001Z'];
    expect(errorsOf(listDeliveries.query, { since: early, until: late })).toEqual([]);
    expect(errorsOf(listDeliveries.query, { since: late, until: early })).toEqual(['since invalid_value']);
  });
});

it.each([...ids('wh').invalid, 'register'])('%j is not the id of a webhook', (id) => {
  expect(errorsOf(WebhookId, id)).toHaveLength(1);
});

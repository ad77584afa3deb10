import { describe, expect, it } from 'vitest';
import { eventNames } from '../../../lib/contract/webhooks/events.ts';
import type { Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createWebhookCallers, newWebhook } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
const caller = newForEachTest(newWebhookCaller);

const refused = (fields: object, status: number, code: string) =>
  caller.refuses(() => caller.register({ ...newWebhook, secret: 'a secret', ...fields }), status, code);

describe('registering a webhook', () => {
  it('answers 201 with exactly id, url, events in their order, active and createdAt', async () => {
    const events = [...eventNames].reverse();
    const answer = await caller.register({ ...newWebhook, events, secret: 'a secret' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^wh_[0-9A-HJKMNP-TV-Z]{26}$/),
        url: 'https://example.com/hooks',
        events,
        active: true,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
  });

  it('takes the same URL twice, as two webhooks', async () => {
    expect(await caller.put()).not.toBe(await caller.put());
  });

  it.each([
    'https://example.com',
    'https://example.com:443/',
    'https://example.com:8443/a/b?c=d&e=%20#f',
    'HTTPS://EXAMPLE.COM/',
    'https://münchen.example/',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]:8443/hooks',
    // Names are checked when they are dialled: what they resolve to may change.
    'https://localhost./',
    'https://unknown.invalid/',
  ])('takes a URL and keeps it as it is sent: %s', async (url) => {
    const answer = await caller.register({ ...newWebhook, url });
    expect(answer.status).toBe(201);
    expect(dataOf<Webhook>(answer).url).toBe(url);
  });
});

// test/sender has all spellings of an address and all addresses that are not public.
describe('a registration is refused with 422 url_not_allowed', () => {
  it.each([
    ['a port that is neither 443 nor 8443', ['example.com:80', 'example.com:8080', 'example.com:0', '1.1.1.1:4443']],
    ['credentials', ['user@example.com', 'user:word@example.com', ':word@example.com', 'example.com@10.0.0.1']],
    ['a loopback address', ['127.0.0.1', '127.0.0.1:8443', '2130706433', '127.0.0.1.', '[::1]', '[0:0:0:0:0:0:0:1]']],
    ['a private address', ['10.0.0.1', '172.16.0.1', '192.168.0.1', '[fd00::1]', '[::ffff:10.0.0.1]']],
    ['a metadata address', ['169.254.169.254', '168.63.129.16', '[::ffff:a9fe:a9fe]']],
    ['another special address', ['0', '100.64.0.1', '255.255.255.255', '[::]', '[fe80::1]', '[64:ff9b::10.0.0.1]']],
  ])('for %s', async (_, hosts) => {
    for (const host of hosts) {
      const { message, details } = await refused({ url: `https://${host}/` }, 422, 'url_not_allowed');
      expect(details).toEqual([{ path: 'url', code: 'invalid_value', message: expect.any(String) }]);
      expect(message).toMatch(/^url must/);
    }
  });
});

it.each([
  ...['http://example.com/', 'HTTP://example.com:8443/', 'http://127.0.0.1/', 'http://user:word@example.com/'],
  ...['ftp://example.com/', 'file:///etc/passwd', 'wss://example.com/', 'javascript:alert(1)', 'httpss://example.com/'],
])('a registration is refused with 400 validation_failed for %s, which is not https', async (url) => {
  const { details } = await refused({ url }, 400, 'validation_failed');
  expect(details).toMatchObject([{ path: 'url' }]);
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { dataOf } from '../../api.ts';
import { createWebhookCallers, newWebhook, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
let caller: WebhookCaller;

beforeEach(async () => {
  caller = await newWebhookCaller();
});

describe('a URL is refused with 422 url_not_allowed', () => {
  it.each([
    ['a port that is neither 443 nor 8443', 'https://example.com:80/'],
    ['a port that is neither 443 nor 8443', 'https://example.com:8080/'],
    ['a port that is neither 443 nor 8443', 'https://example.com:22/'],
    ['a port that is neither 443 nor 8443', 'https://example.com:0/'],
    ['a port that is neither 443 nor 8443', 'https://1.1.1.1:4443/'],
    ['a user', 'https://user@example.com/'],
    ['a user and a password', 'https://user:word@example.com/'],
    ['a password', 'https://:word@example.com/'],
    ['a host that looks like a user', 'https://example.com@10.0.0.1/'],
    ['a loopback address', 'https://127.0.0.1/'],
    ['a loopback address', 'https://127.0.0.1:8443/'],
    ['a loopback address in short', 'https://127.1/'],
    ['a loopback address in decimal', 'https://2130706433/'],
    ['a loopback address in octal', 'https://0177.0.0.1/'],
    ['a loopback address in one octal number', 'https://017700000001/'],
    ['a loopback address in hexadecimal', 'https://0x7f000001/'],
    ['a loopback address partly in hexadecimal', 'https://0x7f.1/'],
    ['a loopback address with a dot behind it', 'https://127.0.0.1./'],
    ['a loopback address in full-width digits', 'https://１２７.0.0.1/'],
    ['a loopback address behind escapes', 'https://%31%32%37.0.0.1/'],
    ['a private address', 'https://10.0.0.1/'],
    ['a private address', 'https://172.16.0.1/'],
    ['a private address', 'https://192.168.0.1/'],
    ['a shared address', 'https://100.64.0.1/'],
    ['a metadata address', 'https://169.254.169.254/latest/meta-data/'],
    ["a platform's address", 'https://168.63.129.16/'],
    ['the unspecified address', 'https://0.0.0.0/'],
    ['the unspecified address in short', 'https://0/'],
    ['a broadcast address', 'https://255.255.255.255/'],
    ['an IPv6 loopback', 'https://[::1]/'],
    ['an IPv6 loopback at length', 'https://[0:0:0:0:0:0:0:1]:8443/'],
    ['an IPv6 unspecified address', 'https://[::]/'],
    ['a mapped private address', 'https://[::ffff:10.0.0.1]/'],
    ['a mapped metadata address', 'https://[::ffff:a9fe:a9fe]/'],
    ['a private IPv6 address', 'https://[fd00::1]/'],
    ['a link-local IPv6 address', 'https://[fe80::1]/'],
    ['a translated address', 'https://[64:ff9b::10.0.0.1]/'],
    ['a tunnelled address', 'https://[2002:a00:1::1]/'],
  ])('for %s: %s', async (_, url) => {
    const send = () => caller.register({ ...newWebhook, url, secret: 'a secret' });
    const { message, details } = await caller.refuses(send, 422, 'url_not_allowed');
    expect(details).toEqual([{ path: 'url', code: 'invalid_value', message: expect.any(String) }]);
    expect(message).toMatch(/^url must/);
  });

  it('and its Idempotency-Key is free for a better one', async () => {
    const headers = { 'Idempotency-Key': 'key' };
    const send = () => caller.register({ ...newWebhook, url: 'https://10.0.0.1/' }, { headers });
    await caller.refuses(send, 422, 'url_not_allowed');
    expect((await caller.register(newWebhook, { headers })).status).toBe(201);
  });
});

describe('a URL is taken', () => {
  it.each([
    'https://example.com',
    'https://example.com:443/',
    'https://example.com:8443/a/b?c=d&e=%20#f',
    'HTTPS://EXAMPLE.COM/',
    'https://xn--mnchen-3ya.example/',
    'https://münchen.example/',
    'https://1.1.1.1/',
    'https://93.184.215.14:8443/',
    'https://[2606:4700:4700::1111]/',
    'https://[2606:4700:4700::1111]:8443/hooks',
    // Names are checked when they are dialled: what they resolve to may change.
    'https://localhost/',
    'https://localhost./',
    'https://unknown.invalid/',
  ])('and kept as it is sent: %s', async (url) => {
    const answer = await caller.register({ ...newWebhook, url });
    expect(answer.status).toBe(201);
    expect(dataOf<Webhook>(answer).url).toBe(url);
  });
});

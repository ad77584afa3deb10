import { beforeEach, describe, expect, it } from 'vitest';
import { eventNames } from '../../../lib/contract/events.ts';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { dataOf } from '../../api.ts';
import { createWebhookCallers, newWebhook, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
let caller: WebhookCaller;

beforeEach(async () => {
  caller = await newWebhookCaller();
});

const refused = (body: unknown, status: number, code: string) =>
  caller.refuses(() => caller.register(body), status, code);

describe('registering a webhook', () => {
  it('answers 201 with exactly id, url, events, active and createdAt', async () => {
    const answer = await caller.register({ ...newWebhook, secret: 'a secret' });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    expect(Object.keys(dataOf(answer))).toEqual(['id', 'url', 'events', 'active', 'createdAt']);
    expect(dataOf<Webhook>(answer)).toEqual({
      id: expect.stringMatching(/^wh_[0-9A-HJKMNP-TV-Z]{26}$/),
      url: 'https://example.com/hooks',
      events: ['task.created'],
      active: true,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  it('takes all six events, in the order in which they are sent', async () => {
    const events = [...eventNames].reverse();
    expect(dataOf<Webhook>(await caller.register({ ...newWebhook, events })).events).toEqual(events);
  });

  it('takes the same URL twice, as two webhooks', async () => {
    expect(await caller.put()).not.toBe(await caller.put());
  });

  it.each(['x', 's'.repeat(256), '🚀'.repeat(256)])('takes a secret of 1 to 256 characters: %j', async (secret) => {
    expect((await caller.register({ ...newWebhook, secret })).status).toBe(201);
  });

  it('takes a URL of 2,048 characters', async () => {
    const url = `https://example.com/${'x'.repeat(2048 - 20)}`;
    expect(url).toHaveLength(2048);
    expect(dataOf<Webhook>(await caller.register({ ...newWebhook, url })).url).toBe(url);
  });
});

describe('a registration is refused with 400 validation_failed', () => {
  it.each([
    ['no url', { events: ['task.created'] }, 'url', 'required'],
    ['no events', { url: 'https://example.com/' }, 'events', 'required'],
    ['empty events', { ...newWebhook, events: [] }, 'events', 'invalid_value'],
    ['an unknown event', { ...newWebhook, events: ['task.created', 'task.deleted'] }, 'events.1', 'invalid_value'],
    ['an event twice', { ...newWebhook, events: ['task.created', 'task.created'] }, 'events', 'invalid_value'],
    ['events that are no array', { ...newWebhook, events: 'task.created' }, 'events', 'invalid_type'],
    ['a null url', { ...newWebhook, url: null }, 'url', 'invalid_type'],
    ['null events', { ...newWebhook, events: null }, 'events', 'invalid_type'],
    ['a null secret', { ...newWebhook, secret: null }, 'secret', 'invalid_type'],
    ['a secret of white space only', { ...newWebhook, secret: ' ' }, 'secret', 'invalid_value'],
    ['an empty secret', { ...newWebhook, secret: '' }, 'secret', 'invalid_value'],
    ['a secret of 257 characters', { ...newWebhook, secret: 's'.repeat(257) }, 'secret', 'invalid_value'],
    ['a lone surrogate in the secret', { ...newWebhook, secret: 'a\ud800' }, 'secret', 'invalid_value'],
    ['a number as secret', { ...newWebhook, secret: 12345678 }, 'secret', 'invalid_type'],
    ['an empty url', { ...newWebhook, url: '' }, 'url', 'invalid_value'],
    [
      'a url of 2,049 characters',
      { ...newWebhook, url: `https://example.com/${'x'.repeat(2029)}` },
      'url',
      'invalid_value',
    ],
    ['a path instead of a url', { ...newWebhook, url: '/hooks' }, 'url', 'invalid_value'],
    ['a host instead of a url', { ...newWebhook, url: 'example.com' }, 'url', 'invalid_value'],
    ['a url without a host', { ...newWebhook, url: 'https://' }, 'url', 'invalid_value'],
    ['a port that there is not', { ...newWebhook, url: 'https://example.com:65536/' }, 'url', 'invalid_value'],
    ['an unknown field', { ...newWebhook, event: 'task.created' }, 'event', 'unknown_field'],
    ['a field that only answers have', { ...newWebhook, active: true }, 'active', 'read_only'],
    ['a field that only lists have', { ...newWebhook, lastDeliveryAt: 'x' }, 'lastDeliveryAt', 'read_only'],
  ])('for %s', async (_, body, path, code) => {
    const { details } = await refused(body, 400, 'validation_failed');
    expect(details).toMatchObject([{ path, code }]);
  });

  it('for several faults at once, and names them all', async () => {
    const { details = [] } = await refused({ secret: '', name: 'x' }, 400, 'validation_failed');
    expect(details.map(({ path }) => path).sort()).toEqual(['events', 'name', 'secret', 'url']);
  });

  it.each([
    'http://example.com/',
    'http://example.com:8443/',
    'HTTP://example.com/',
    'http://127.0.0.1/',
    'http://user:word@example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'ws://example.com/',
    'wss://example.com/',
    'mailto:hooks@example.com',
    'javascript:alert(1)',
    'data:text/plain,x',
    'httpss://example.com/',
  ])('for %s, which is not https', async (url) => {
    const { details } = await refused({ ...newWebhook, url }, 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'url' }]);
  });
});

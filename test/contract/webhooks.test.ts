import { describe, expect, it } from 'vitest';
import { eventNames } from '../../lib/contract/events.ts';
import { listDeliveries, registerWebhook, testWebhook, WebhookId } from '../../lib/contract/webhooks.ts';
import { validate } from '../../lib/http/validate.ts';

const required = { url: 'https://example.com/hooks', events: ['task.created'] };

/** Returns a URL of this length. */
const urlOf = (length: number) => 'https://example.com/'.padEnd(length, 'x');

/** Returns the errors of a field of a registration, as `<path> <code>`; an empty list if it is valid and unchanged. */
function errorsOf(field: string, value: unknown): string[] {
  const body = { ...required, [field]: value };
  const { output, errors } = validate(registerWebhook.body, body);
  if (errors.length === 0) expect(output).toEqual(body);
  return errors.map(({ path, code }) => `${path} ${code}`);
}

describe('a registration', () => {
  it('requires a url and events, and has no default for the secret', () => {
    expect(validate(registerWebhook.body, required)).toEqual({ output: required, errors: [] });
    for (const field of ['url', 'events']) expect(errorsOf(field, undefined)).toEqual([`${field} required`]);
  });

  it.each<[string, unknown[]]>([
    ['url', [urlOf(2_048)]],
    ['events', [[...eventNames].reverse()]],
    ['secret', ['x', '🚀'.repeat(256)]],
  ])('accepts a valid %s', (field, values) => {
    for (const value of values) expect(errorsOf(field, value)).toEqual([]);
  });

  it.each<[string, unknown[]]>([
    ['url', ['', urlOf(2_049), '/hooks', 'example.com', 'https://', 'https://example.com:65536/']],
    ['events', [[], ['task.created', 'task.created']]],
    ['secret', ['', ' ', '🚀'.repeat(257), 'a\ud800']],
  ])('rejects an invalid %s', (field, values) => {
    for (const value of values) expect(errorsOf(field, value)).toEqual([`${field} invalid_value`]);
  });

  it.each<[string, unknown[]]>([
    ['url', [null]],
    ['events', [null, 'task.created']],
    ['secret', [null, 12_345_678]],
  ])('rejects a %s of another type', (field, values) => {
    for (const value of values) expect(errorsOf(field, value)).toEqual([`${field} invalid_type`]);
  });

  it('names the place of an unknown event', () => {
    expect(errorsOf('events', ['task.created', 'task.deleted'])).toEqual(['events.1 invalid_value']);
  });
});

it('a test event requires one of the six events', () => {
  const errors = (body: object) => validate(testWebhook.body, body).errors.map(({ path, code }) => `${path} ${code}`);
  for (const event of eventNames) expect(errors({ event })).toEqual([]);
  for (const event of [null, 'task.deleted', 'TASK.CREATED', ['task.created']])
    expect(errors({ event })).toEqual(['event invalid_value']);
  expect(errors({})).toEqual(['event required']);
});

it('a page of deliveries has 20 entries by default and 100 at most', () => {
  expect(validate(listDeliveries.query, {}).output).toEqual({ limit: 20, offset: 0 });
  expect(validate(listDeliveries.query, { limit: '101' }).output).toEqual({ limit: 100, offset: 0 });
  expect(validate(listDeliveries.query, { limit: '0', offset: '-1' }).errors).toHaveLength(2);
});

it.each(['wh_1', 'register', 'wh_01k00000000000000000000000', 'tk_01K00000000000000000000000'])(
  '%s is not the id of a webhook',
  (id) => expect(validate(WebhookId, id).errors).toHaveLength(1),
);

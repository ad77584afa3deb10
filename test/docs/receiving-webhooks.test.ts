import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { ulid } from 'ulid';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../lib/contract/endpoint.ts';
import { type EventName, ExecutionEventData, eventNames, TaskEventData } from '../../lib/contract/events.ts';
import { Timestamp } from '../../lib/contract/shapes.ts';
import {
  DeliveryId,
  deleteWebhook,
  listDeliveries,
  NewWebhook,
  registerWebhook,
  testWebhook,
} from '../../lib/contract/webhooks.ts';
import { readRetrySchedule } from '../../lib/webhooks/deliveries/retry-schedule.ts';
import { sampleOf } from '../../lib/webhooks/samples.ts';
import { faultOfUrl } from '../../lib/webhooks/sender/receivers.ts';
import { attemptMs, responseLimit } from '../../lib/webhooks/sender/sender.ts';
import { deliveryHeaders } from '../../lib/webhooks/sender/signature.ts';
import { fieldNames } from '../field-names.ts';
import { blocksOf, page } from './receivers-page.ts';

/** An example body on the page. */
type Sample = { event: EventName; deliveryId: string; timestamp: string; data: Record<string, unknown> };

const samples = blocksOf('json').map((block) => JSON.parse(block) as Sample);
const commands = blocksOf('sh');

/** Returns the only command of the page that contains a text. */
function commandWith(text: string): string {
  const [found, ...others] = commands.filter((command) => command.includes(text));
  expect(others, `one command with ${text}`).toEqual([]);
  return found ?? expect.fail(`no command with ${text}`);
}

describe('the bodies on the page', () => {
  it('are one of each event', () => {
    expect(samples.map(({ event }) => event).toSorted()).toEqual(eventNames.toSorted());
  });

  it.each(samples)('have the fields of a real delivery and no others: $event', (sample) => {
    const { event, data } = sampleOf(sample.event, ulid, 0);
    expect(fieldNames(sample)).toEqual(fieldNames({ event, deliveryId: '', timestamp: '', data }));
  });

  it.each(samples)('have values that the contract allows: $event', ({ event, deliveryId, timestamp, data }) => {
    expect(v.is(DeliveryId, deliveryId)).toBe(true);
    expect(v.is(Timestamp, timestamp)).toBe(true);
    expect(v.parse(event.startsWith('task.') ? TaskEventData : ExecutionEventData, data)).toEqual(data);
  });
});

describe('the commands on the page', () => {
  const rows: Endpoint[] = [registerWebhook, testWebhook, deleteWebhook, listDeliveries];

  it.each(rows)('call an existing endpoint: $method $path', ({ method, path }) => {
    const command = commandWith(`"$BASE_URL${path.replace(':id', '$WEBHOOK_ID')}${method === 'GET' ? '?' : '"'}`);
    const sent = /-X (\w+)/.exec(command)?.[1] ?? (command.includes(' -d ') ? 'POST' : 'GET');
    expect(sent).toBe(method);
  });

  it('register with a body that the contract accepts, and a secret that libraries accept', () => {
    const command = commandWith('/api/webhooks/register');
    expect(command).toContain('SECRET="whsec_$(openssl rand -base64 32)"');
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const body = /-d '(\{.*\})'$/m.exec(command)?.[1]?.replace(`'"$SECRET"'`, secret) ?? '';
    expect(v.parse(NewWebhook, JSON.parse(body))).toEqual({
      url: 'https://hooks.example.com/crewboard',
      events: ['task.created', 'task.completed'],
      secret,
    });
    expect(libraryAccepts(secret, secret)).toBe(true);
  });
});

/** Whether the public library with one secret accepts a signature of the registered secret. */
function libraryAccepts(registered: string, given: string): boolean {
  const sentAt = Date.now();
  const body = '{}';
  const headers = deliveryHeaders({ event: 'task.created', deliveryId: 'dlv_1', sentAt, body }, registered);
  try {
    new Webhook(given).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

describe('the page', () => {
  it('names every header of a delivery', () => {
    const headers = deliveryHeaders({ event: 'task.created', deliveryId: '', sentAt: 0, body: '' }, 'a secret');
    for (const name of Object.keys(headers)) expect(page).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\|$`, 'm'));
    expect(page).toContain(`| \`Content-Type\` | \`${headers['Content-Type']}\` |`);
    expect(page).toContain(`| \`User-Agent\` | \`${headers['User-Agent']}\` |`);
  });

  it('has a right signature to test against', () => {
    const [, body = '', secret = '', given = ''] =
      /the body `(.+?)` under the secret `(.+?)` has the signature\s+`sha256=(\w+)`/.exec(page) ?? [];
    expect(createHmac('sha256', secret).update(body).digest('hex')).toBe(given);
    expect(commandWith('openssl dgst')).toContain(`printf '%s' '${body}' | openssl dgst -sha256 -hmac ${secret}`);
  });

  it('names the ports that a URL may have', () => {
    const fault = (port: number) => faultOfUrl(new URL(`https://hooks.example.com:${port}/`), () => false);
    const [, ...named] = /must be https, on port (\d+) or (\d+)/.exec(page) ?? [];
    expect(named).toEqual(['443', '8443']);
    for (const port of named) expect(fault(Number(port))).toBeUndefined();
    expect(fault(444)).toBeDefined();
  });

  it('names the time and the length of an answer', () => {
    const prose = page.replaceAll(/\s+/g, ' ');
    expect(prose).toContain(`An attempt has ${attemptMs / 1000} seconds in all`);
    expect(prose).toContain(`At most ${responseLimit / 1024} KiB of your response's body are read`);
  });

  it('names the times of the retry schedule', () => {
    const waits = [...page.matchAll(/^\| \w+ \| (\d+) (minutes|hours) after the \w+ failed \|$/gm)];
    expect(waits.map(([, count, unit]) => Number(count) * (unit === 'hours' ? 60 : 1))).toEqual(
      readRetrySchedule(undefined).map((wait) => wait / 60_000),
    );
  });

  it('names the secrets that libraries of Standard Webhooks accept', () => {
    const bytes = Buffer.from('any other text: ü');
    expect(libraryAccepts(`whsec_${bytes.toString('base64')}`, `whsec_${bytes.toString('base64')}`)).toBe(true);
    expect(libraryAccepts(bytes.toString('utf8'), bytes.toString('base64'))).toBe(true);
    const looksLikeBase64 = bytes.toString('base64');
    expect(libraryAccepts(looksLikeBase64, looksLikeBase64)).toBe(false);
    expect(libraryAccepts(looksLikeBase64, Buffer.from(looksLikeBase64).toString('base64'))).toBe(true);
  });
});

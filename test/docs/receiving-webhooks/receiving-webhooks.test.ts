import { createHmac } from 'node:crypto';
import { ulid } from 'ulid';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { Timestamp } from '../../../lib/contract/shapes.ts';
import { type EventName, eventNames, eventRows } from '../../../lib/contract/webhooks/events.ts';
import { DeliveryId, SecretRotation } from '../../../lib/contract/webhooks/webhooks.ts';
import { headersLimit } from '../../../lib/sender/connection.ts';
import { faultOfUrl } from '../../../lib/sender/receivers.ts';
import { attemptMs, responseLimit } from '../../../lib/sender/sender.ts';
import { deliveryHeaders } from '../../../lib/sender/signature.ts';
import { readRetrySchedule } from '../../../lib/settings/retry-schedule.ts';
import { sampleOf } from '../../../lib/webhooks/samples.ts';
import { fieldNames } from '../../values/field-names.ts';
import { blocksOf, page } from './receivers-page.ts';

type Sample = { event: EventName; deliveryId: string; timestamp: string; data: Record<string, unknown> };

const samples = blocksOf('json').map((block) => JSON.parse(block) as Sample);

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
    expect(v.parse(eventRows[event].data, data)).toEqual(data);
  });
});

describe('the page', () => {
  it('names every header of a delivery', () => {
    const headers = deliveryHeaders(
      { event: 'task.created', deliveryId: '', sentAt: 0, body: '' },
      'a secret',
      'the old one',
    );
    for (const name of Object.keys(headers)) expect(page).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\|$`, 'm'));
    expect(page).toContain(`| \`Content-Type\` | \`${headers['Content-Type']}\` |`);
    expect(page).toContain(`| \`User-Agent\` | \`${headers['User-Agent']}\` |`);
  });

  it('has a right signature to test against', () => {
    const [, body = '', secret = '', given = ''] =
      /the body `(.+?)` under the secret `(.+?)` has the signature\s+`sha256=(\w+)`/.exec(page) ?? [];
    expect(createHmac('sha256', secret).update(body).digest('hex')).toBe(given);
    expect(page).toContain(`printf '%s' '${body}' | openssl dgst -sha256 -hmac ${secret}`);
  });

  it('names the ports that a URL may have', () => {
    const fault = (port: number) => faultOfUrl(new URL(`https://hooks.example.com:${port}/`), () => false);
    const [, ...named] = /must be https, on port (\d+) or (\d+)/.exec(page) ?? [];
    expect(named).toEqual(['443', '8443']);
    for (const port of named) expect(fault(Number(port))).toBeUndefined();
    expect(fault(444)).toBeDefined();
  });

  it('names the limit and the default of the overlap of a rotation', () => {
    const rotate = (fields: object) => v.safeParse(SecretRotation, { secret: 'a secret', ...fields });
    const [, limit = '', usual = ''] = /0 to ([\d,]+) \(a week\); ([\d,]+) \(a day\) by default/.exec(page) ?? [];
    const [longest, length] = [limit, usual].map((text) => Number(text.replaceAll(',', '')));
    expect(rotate({})).toMatchObject({ output: { overlapSeconds: length } });
    expect([rotate({ overlapSeconds: longest }), rotate({ overlapSeconds: Number(longest) + 1 })]).toMatchObject([
      { success: true },
      { success: false },
    ]);
  });

  it('names the time and the length of an answer', () => {
    const prose = page.replaceAll(/\s+/g, ' ');
    expect(prose).toContain(`An attempt has ${attemptMs / 1000} seconds in all`);
    expect(prose).toContain(`At most ${responseLimit / 1024} KiB of your response's body are read`);
    expect(prose).toContain(`Your response's headers may have ${headersLimit / 1024} KiB`);
  });

  it('names the times of the retry schedule', () => {
    const waits = [...page.matchAll(/^\| \w+ \| (\d+) (minutes|hours) after the \w+ failed \|$/gm)];
    expect(waits.map(([, count, unit]) => Number(count) * (unit === 'hours' ? 60 : 1))).toEqual(
      readRetrySchedule(undefined).map((wait) => wait / 60_000),
    );
  });
});

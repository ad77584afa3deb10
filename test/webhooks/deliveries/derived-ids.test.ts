import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { EventId } from '../../../lib/contract/events.ts';
import { timeOf, ulidOf } from '../../../lib/contract/ids.ts';
import { DeliveryId } from '../../../lib/contract/webhooks.ts';
import { deliveryIdOf, eventIdOf } from '../../../lib/webhooks/deliveries/derived-ids.ts';

const changedAt = Date.parse('2026-03-01T12:00:00.123Z');
const origin = { item: 'tk_1', version: 1, event: 'task.created', webhookId: 'wh_1' };

describe('the id of a delivery', () => {
  it('is the same however often the change is read', () => {
    expect(deliveryIdOf(changedAt, { ...origin })).toBe(deliveryIdOf(changedAt, origin));
  });

  it('is the same today as it was when this test was written', () => {
    expect(deliveryIdOf(changedAt, origin)).toBe('dlv_01KJMMA2KV41RGYX473R3ZTDTD');
  });

  it.each([
    ['item', { item: 'tk_2' }],
    ['version', { version: 2 }],
    ['event', { event: 'task.completed' }],
    ['webhook', { webhookId: 'wh_2' }],
  ])('is another for another %s', (_, other) => {
    expect(deliveryIdOf(changedAt, { ...origin, ...other })).not.toBe(deliveryIdOf(changedAt, origin));
  });

  it('keeps apart origins that read the same when they are joined', () => {
    const one = deliveryIdOf(changedAt, { ...origin, item: 'tk_1', version: 11 });
    const other = deliveryIdOf(changedAt, { ...origin, item: 'tk_11', version: 1 });
    expect(one).not.toBe(other);
  });

  it.each([0, changedAt, Date.parse('9999-12-31T23:59:59.999Z')])('is well-formed and carries its time: %i', (time) => {
    const id = deliveryIdOf(time, origin);
    expect(v.is(DeliveryId, id)).toBe(true);
    expect(timeOf(ulidOf(id))).toBe(time);
  });

  it('has 80 bits of the hash of its origin behind the time', () => {
    const hash = createHash('sha256').update('["tk_1",1,"task.created","wh_1"]').digest('hex').slice(0, 20);
    const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    const behind = [...deliveryIdOf(changedAt, origin).slice(14)];
    const value = behind.reduce((sum, letter) => sum * 32n + BigInt(letters.indexOf(letter)), 0n);
    expect(value.toString(16).padStart(20, '0')).toBe(hash);
  });
});

describe('the id of an event', () => {
  it('is the same today as it was when this test was written', () => {
    expect(eventIdOf(changedAt, origin)).toBe('ev_01KJMMA2KV8REAES04FC2S38XD');
  });

  it.each([
    ['item', { item: 'tk_2' }],
    ['version', { version: 2 }],
    ['event', { event: 'task.completed' }],
  ])('is another for another %s', (_, other) => {
    expect(eventIdOf(changedAt, { ...origin, ...other })).not.toBe(eventIdOf(changedAt, origin));
  });

  it('is well-formed and carries the time of the change, by which the log is in order', () => {
    const id = eventIdOf(changedAt, origin);
    expect(v.is(EventId, id)).toBe(true);
    expect(timeOf(ulidOf(id))).toBe(changedAt);
  });
});

import { describe, expect, it } from 'vitest';
import { deliveryIdOf, eventIdOf } from '../../../lib/webhooks/attempts/derived-ids.ts';

const changedAt = Date.parse('2026-03-01T12:00:00.123Z');
const origin = { item: 'tk_1', version: 1, event: 'task.created', webhookId: 'wh_1' };

describe('the id of a delivery', () => {
  it('is the same today as it was when this test was written', () => {
    expect(deliveryIdOf(changedAt, origin)).toBe('dlv_01KJMMA2KV41RGYX473R3ZTDTD');
  });

  it.each([{ item: 'tk_2' }, { version: 2 }, { event: 'task.completed' }, { webhookId: 'wh_2' }])(
    'is another for %o',
    (other) => {
      expect(deliveryIdOf(changedAt, { ...origin, ...other })).not.toBe(deliveryIdOf(changedAt, origin));
    },
  );

  it('keeps apart origins that read the same when they are joined', () => {
    const one = deliveryIdOf(changedAt, { ...origin, item: 'tk_1', version: 11 });
    expect(deliveryIdOf(changedAt, { ...origin, item: 'tk_11', version: 1 })).not.toBe(one);
  });
});

describe('the id of an event', () => {
  it('is the same today as it was when this test was written', () => {
    expect(eventIdOf(changedAt, origin)).toBe('ev_01KJMMA2KV8REAES04FC2S38XD');
  });

  it.each([{ item: 'tk_2' }, { version: 2 }, { event: 'task.completed' }])('is another for %o', (other) => {
    expect(eventIdOf(changedAt, { ...origin, ...other })).not.toBe(eventIdOf(changedAt, origin));
  });
});

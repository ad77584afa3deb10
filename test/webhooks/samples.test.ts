import { ulid } from 'ulid';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { eventNames, eventRows } from '../../lib/contract/webhooks/events.ts';
import { sampleOf } from '../../lib/webhooks/samples.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

describe('a sample of an event', () => {
  it.each(eventNames)('%s has the shape of a real one, of this moment, and ids of its own', (event) => {
    const sample = sampleOf(event, ulid, now);
    expect(sample.event).toBe(event);
    expect(v.parse(eventRows[event].data, sample.data)).toEqual(sample.data);
    expect(sample).not.toEqual(sampleOf(event, ulid, now));
    expect(sample.data.occurredAt).toBe('2026-03-01T12:00:00.000Z');
  });

  it('names the previous status in task.status_changed only', () => {
    const named = eventNames.filter((event) => JSON.stringify(sampleOf(event, ulid, now)).includes('previousStatus'));
    expect(named).toEqual(['task.status_changed']);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { ulidFrom } from '../../../lib/contract/ids.ts';
import { maxEventsRead } from '../../../lib/contract/webhooks/event-log.ts';
import { followEvents, readNewestEvents } from '../../../lib/table/events/event-feed.ts';
import { appendEvent } from '../../../lib/table/events/event-log.ts';
import { listLateEvent } from '../../../lib/table/events/late-events.ts';
import { clockAt } from '../../service.ts';
import { meter } from '../fixtures/capacity.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';

const { table } = await createTestTable();
const { costOf } = meter(table);
const opening = Date.parse('2026-03-01T12:00:00.000Z');
const clock = clockAt(opening + 3_600_000);
const context = { table, batchers: {}, clock };
const beginning = `ev_${'0'.repeat(26)}`;
const filter = { event: 'agent.failed' } as const;
const idAt = (nth: number) => `ev_${ulidFrom(opening + nth, new Uint8Array(10))}`;

/** One matching event on both sides of more than a request reads. */
const total = maxEventsRead + 300;
const wanted = [idAt(0), idAt(total - 1)];

describe('a filter that few of more than 10,000 events match', () => {
  const organization = newOrganization();
  beforeAll(async () => {
    for (let from = 0; from < total; from += 2_000)
      await Promise.all(
        Array.from({ length: Math.min(2_000, total - from) }, (_, nth) => {
          const id = idAt(from + nth);
          const event = wanted.includes(id) ? 'agent.failed' : 'task.created';
          return appendEvent(context, { organization, id, event, item: 'tk_1', version: 1, data: '{}' });
        }),
      );
  }, 120_000);

  it('ends a page of the newest events within the list, which continues at next', async () => {
    const first = await readNewestEvents(context, organization, { limit: 5, filter });
    expect(first.items.map(({ id }) => id)).toEqual([wanted[1]]);
    expect(first.next).toBe(idAt(total - maxEventsRead));
    const second = await readNewestEvents(context, organization, { before: first.next as string, limit: 5, filter });
    expect([second.items.map(({ id }) => id), second.next]).toEqual([[wanted[0]], null]);
  });

  it('ends a page of a follower in the same way, and takes at most 80 requests', async () => {
    const pages: string[][] = [];
    let after = beginning;
    for (let more = 0; more < 2; more++) {
      const cost = await costOf(async () => {
        const page = await followEvents(context, organization, { after, limit: 5, filter });
        pages.push(page.items.map(({ id }) => id));
        after = page.next as string;
      });
      expect(cost.requests).toBeLessThanOrEqual(80);
    }
    expect(pages).toEqual([[wanted[0]], [wanted[1]]]);
  });

  it('ends a page of a follower within many late events too', async () => {
    const late = newOrganization();
    for (let from = 0; from < total; from += 1_000) {
      const part = Array.from({ length: Math.min(1_000, total - from) }, (_, nth) => from + nth);
      await Promise.all(
        part.map((nth) => listLateEvent({ ...context, clock: () => opening + 60_000 + from }, late, idAt(nth))),
      );
    }
    const [event, item] = ['agent.failed' as const, 'ex_1'];
    await appendEvent(context, { organization: late, id: idAt(total - 1), event, item, version: 1, data: '{}' });
    const seen: string[] = [];
    let [pages, after] = [0, idAt(total)];
    for (let ended = false; !ended; pages++) {
      const { items, next } = await followEvents(context, late, { after, limit: 5, filter });
      seen.push(...items.map(({ id }) => id));
      ended = next === after || next === `ev_${ulidFrom(clock() - 750, new Uint8Array(10).fill(255))}`;
      after = next as string;
    }
    expect([seen, pages]).toEqual([[idAt(total - 1)], 2]);
  });
});

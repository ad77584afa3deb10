import { beforeEach, describe, expect, it } from 'vitest';
import { ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { EventName } from '../../../lib/contract/webhooks/events.ts';
import { type EventFilter, followEvents, readNewestEvents } from '../../../lib/table/events/event-feed.ts';
import { appendEvent, type LoggedEvent } from '../../../lib/table/events/event-log.ts';
import { listLateEvent } from '../../../lib/table/events/late-events.ts';
import { followDelayMs } from '../../../lib/table/events/positions.ts';
import { countsFewerUnits } from '../../dynamodb-local/endpoint.ts';
import { type Clock, clockAt } from '../../service.ts';
import { meter } from '../fixtures/capacity.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';

const { table } = await createTestTable();
const { costOf } = meter(table);
const opening = Date.parse('2026-03-01T12:00:00.000Z');
const beginning = `ev_${'0'.repeat(26)}`;
let organization: Organization;
let clock: Clock;
beforeEach(() => {
  organization = newOrganization();
  clock = clockAt(opening + 10_000);
});

const context = () => ({ table, batchers: {}, clock });
const timeAt = (seconds: number) => opening + seconds * 1_000;
const idAt = (seconds: number) => `ev_${ulidFrom(timeAt(seconds), new Uint8Array(10).fill(7))}`;

/** Appends an event of a second, and lists it as late if `lateAt` is a time. */
async function append(seconds: number, fields: Partial<LoggedEvent> = {}, lateAt?: number): Promise<string> {
  const id = idAt(seconds);
  const rest = { event: 'task.created', item: 'tk_1', version: 1, data: '{}' } as const;
  await appendEvent(context(), { organization, id, ...rest, ...fields });
  if (lateAt !== undefined) await listLateEvent({ ...context(), clock: () => timeAt(lateAt) }, organization, id);
  return id;
}

type Page = { ids: string[]; next: string | null };
const idsOf = ({ items, next }: { items: LoggedEvent[]; next: string | null }): Page => ({
  ids: items.map(({ id }) => id),
  next,
});

const newest = async (filter: EventFilter = {}, limit = 20, before?: string) =>
  idsOf(await readNewestEvents(context(), organization, { before, limit, filter }));
const follow = async (after = beginning, filter: EventFilter = {}, limit = 20) =>
  idsOf(await followEvents(context(), organization, { after, limit, filter }));

/** Follows until a page has no event; returns the ids of each page. */
async function followAll(limit: number, filter: EventFilter = {}): Promise<string[][]> {
  const pages: string[][] = [];
  for (let after = beginning; ; ) {
    const { ids, next } = await follow(after, filter, limit);
    if (ids.length === 0) return pages;
    pages.push(ids);
    after = next as string;
  }
}

describe('the newest events', () => {
  it('are listed newest first, page by page, with an end', async () => {
    const ids = (await Promise.all([0, 1, 2, 3].map((second) => append(second)))).toReversed();
    expect(await newest()).toEqual({ ids, next: null });
    expect(await newest({}, 4)).toEqual({ ids, next: null });
    const first = await newest({}, 3);
    expect(first).toEqual({ ids: ids.slice(0, 3), next: ids[2] });
    expect(await newest({}, 3, first.next as string)).toEqual({ ids: ids.slice(3), next: null });
    expect(await newest({}, 3, ids[3])).toEqual({ ids: [], next: null });
  });

  it('have an event at once, and a late event once, at its id', async () => {
    clock.now = timeAt(0);
    const id = await append(0);
    expect((await newest()).ids).toEqual([id]);
    const late = await append(-3_600, {}, 0);
    expect((await newest()).ids).toEqual([id, late]);
  });

  it('have no event of another organization, and none that has left the log', async () => {
    await append(0);
    organization = newOrganization();
    const kept = await append(-90 * 24 * 3_600);
    await append(-91 * 24 * 3_600);
    expect((await newest()).ids).toEqual([kept]);
    expect((await follow()).ids).toEqual([kept]);
  });

  it('cost one query', async () => {
    await Promise.all([0, 1, 2, 3].map((second) => append(second)));
    expect(await costOf(() => newest())).toMatchObject({ requests: 1, rcu: 1 });
  });
});

describe('a follower', () => {
  it('gets the oldest events after an id or a position first, and always a next position', async () => {
    const ids = await Promise.all([0, 1, 2].map((second) => append(second)));
    const page = await follow(beginning, {}, 2);
    expect(page).toEqual({ ids: ids.slice(0, 2), next: ids[1] });
    const last = await follow(page.next as string, {}, 2);
    expect(last.ids).toEqual(ids.slice(2));
    const empty = await follow(last.next as string);
    expect(empty).toEqual({ ids: [], next: expect.stringMatching(/^ev_[0-9A-Z]{26}$/) });
    const another = await append(9.5);
    clock.now += 1_000;
    expect((await follow(empty.next as string)).ids).toEqual([another]);
    expect((await follow(ids[0])).ids).toEqual([ids[1], ids[2], another]);
  });

  it('sees no position of the last 750 ms', async () => {
    await append(0);
    clock.now = timeAt(0) + followDelayMs - 1;
    expect(await follow()).toMatchObject({ ids: [] });
    clock.now += 1;
    expect((await follow()).ids).toEqual([idAt(0)]);
  });

  it('stays where it is if its position is newer than that', async () => {
    const now = `ev_${ulidFrom(clock(), new Uint8Array(10))}`;
    expect(await follow(now)).toEqual({ ids: [], next: now });
    const future = { since: clock() + 60_000 };
    expect(await follow(beginning, future)).toEqual({ ids: [], next: beginning });
  });

  it.each([1, 2, 50])(
    'with pages of %d gets late events that it had passed, and each event of its page once',
    async (limit) => {
      const before = await append(0);
      await append(2);
      const { next } = await follow();
      const late = await Promise.all([0.5, 1, 1.5].map((second) => append(second, {}, 9.5)));
      clock.now += 1_000;
      const seen: string[] = [];
      for (let after = next as string; ; ) {
        const page = await follow(after, {}, limit);
        if (page.ids.length === 0) break;
        expect(new Set(page.ids).size).toBe(page.ids.length);
        seen.push(...page.ids);
        after = page.next as string;
      }
      expect(new Set(seen)).toEqual(new Set(late));
      // Another follower can get them twice.
      const all = (await followAll(limit)).flat();
      expect(new Set(all)).toEqual(new Set([before, idAt(2), ...late]));
      expect((await follow()).ids).toEqual([before, ...late.toSorted(), idAt(2)].toSorted());
    },
  );

  it('begins at since, and still gets the late events of its range', async () => {
    await append(0);
    const ids = await Promise.all([1, 2].map((second) => append(second)));
    expect((await follow(beginning, { since: timeAt(1) })).ids).toEqual(ids);
    expect((await follow(beginning, { until: timeAt(1) })).ids).toEqual([idAt(0), ids[0]]);
    const { next } = await follow(beginning, { until: timeAt(1) });
    const late = await append(0.5, {}, 9.5);
    clock.now += 1_000;
    expect((await follow(next as string, { until: timeAt(1) })).ids).toEqual([late]);
    expect((await follow(next as string, { since: timeAt(1) })).ids).toEqual([]);
  });

  it.skipIf(countsFewerUnits)('costs two queries for a page, with events or without', async () => {
    await Promise.all([0, 1, 2, 3].map((second) => append(second)));
    expect(await costOf(() => follow())).toMatchObject({ requests: 2, rounds: 2, rcu: 2 });
    expect(await costOf(() => follow(beginning, {}, 2))).toMatchObject({ requests: 2, rounds: 2, rcu: 2 });
  });

  it('skips a late event that is no longer stored', async () => {
    await listLateEvent({ ...context(), clock: () => timeAt(1) }, organization, idAt(0));
    expect((await follow()).ids).toEqual([]);
  });
});

describe('the filters', () => {
  const task = `tk_${ulidFrom(opening, new Uint8Array(10).fill(1))}`;
  const execution = `ex_${ulidFrom(opening, new Uint8Array(10).fill(2))}`;
  const ofTask = (event: EventName) => ({ event, item: task, data: JSON.stringify({ task: { id: task } }) });
  const ofExecution = (event: EventName, taskId?: string) => ({
    event,
    item: execution,
    data: JSON.stringify({ execution: { id: execution, ...(taskId && { taskId }) } }),
  });
  /** A title that has the text of the filter. */
  const misleading = { data: JSON.stringify({ task: { id: 'tk_2', title: `"taskId":"${task}"` } }), item: 'tk_2' };

  const both = async (filter: EventFilter) => {
    const { ids } = await newest(filter);
    expect((await follow(beginning, filter)).ids.toSorted()).toEqual(ids.toSorted());
    expect((await followAll(1, filter)).flat().toSorted()).toEqual(ids.toSorted());
    return ids;
  };

  it('select by event, task with its executions, execution and time', async () => {
    const created = await append(1, ofTask('task.created'));
    const done = await append(2, ofTask('task.completed'));
    const spawned = await append(3, ofExecution('agent.spawned', task));
    const alone = await append(4, ofExecution('agent.completed'));
    await append(5, misleading);
    expect(await both({ event: 'task.completed' })).toEqual([done]);
    expect(await both({ task_id: task })).toEqual([spawned, done, created]);
    expect(await both({ execution_id: execution })).toEqual([alone, spawned]);
    expect(await both({ task_id: task, execution_id: execution })).toEqual([spawned]);
    expect(await both({ task_id: task, event: 'agent.completed' })).toEqual([]);
    expect(await both({ since: timeAt(2), until: timeAt(3) })).toEqual([spawned, done]);
    expect(await both({ task_id: task, since: timeAt(2) })).toEqual([spawned, done]);
    expect(await both({ until: timeAt(0) })).toEqual([]);
    expect(await both({ until: Date.parse('0000-01-01T00:00:00Z') })).toEqual([]);
  });

  it('find the events among many that do not match, in pages that end within them', async () => {
    const wanted = [100, 300, 599].map((nth) => idAt(nth / 100));
    const failed = { event: 'agent.failed' } as const;
    await Promise.all(
      Array.from({ length: 600 }, (_, nth) => append(nth / 100, [100, 300, 599].includes(nth) ? failed : {})),
    );
    for (const limit of [1, 2, 50]) {
      expect((await followAll(limit, failed)).flat()).toEqual(wanted);
      const first = await newest(failed, limit);
      const rest = first.next ? await newest(failed, 50, first.next) : { ids: [] };
      expect([...first.ids, ...rest.ids]).toEqual(wanted.toReversed());
    }
  });

  it('advance a follower past events that do not match', async () => {
    for (const second of [1, 2, 3]) await append(second);
    const wanted = await append(4, { event: 'agent.failed' }, 5);
    const filter = { event: 'agent.failed' } as const;
    const page = await follow(beginning, filter, 1);
    expect(page.ids).toEqual([wanted]);
    const rest = await follow(page.next as string, filter, 1);
    // The late event again: it was also read at its id.
    expect(rest.ids).toEqual([wanted]);
    const empty = await follow(rest.next as string, filter, 1);
    expect(empty.ids).toEqual([]);
    expect(ulidOf(empty.next as string) > ulidOf(wanted)).toBe(true);
  });
});

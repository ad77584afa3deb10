import { QueryCommand, type QueryCommandInput, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import { sweep } from '../../../lib/table/lists/due.ts';
import { conditionFailed } from '../fixtures/dynamodb-errors.ts';
import { mockTable } from '../fixtures/mock-table.ts';

const opening = Date.parse('2026-03-01T12:00:00.000Z');
const minuteMs = 60_000;
/** The time that a sweep has, of its function's minute. */
const budgetMs = 45_000;
/** The time that a step of 50 entries takes. */
const stepMs = 500;
/** The number of entries that a sweep has time for. */
const capacity = (budgetMs / stepMs) * 50;
const partitions = ['0', '1', '2', '3'] as const;

type Entry = { partition: string; sk: string; dueAt: string };

/** Simulates the sweeper's index and its clock: only steps take time. An item stays listed until it is done. */
function simulatedIndex() {
  const clock = { now: opening };
  const entries = new Map<string, Entry>();
  const sent: string[] = [];
  let [added, read, moved, mostHeld] = [0, 0, 0, 0];

  const query = async (input: QueryCommandInput) => {
    const { ExpressionAttributeValues = {}, ExclusiveStartKey, Limit = Number.POSITIVE_INFINITY } = input;
    const { ':partition': partition, ':until': until, ':from': from = '' } = ExpressionAttributeValues;
    const place = ({ dueAt, sk }: Pick<Entry, 'dueAt' | 'sk'>) => `${dueAt} ${sk}`;
    const after = ExclusiveStartKey ? place(ExclusiveStartKey as Entry) : '';
    const found = [...entries.values()]
      .filter((one) => one.partition === partition && one.dueAt >= from && one.dueAt <= until && place(one) > after)
      .sort((a, b) => (place(a) < place(b) ? -1 : 1));
    const page = found.slice(0, Limit);
    read += page.length;
    mostHeld = Math.max(mostHeld, read - moved);
    return {
      Items: page.map(({ sk, dueAt }) => ({ pk: 'pk', sk, dueAt })),
      ...(found.length > page.length && { LastEvaluatedKey: { ...page.at(-1), pk: 'pk' } }),
    };
  };
  const { table, dynamodb } = mockTable();
  const update = async ({ Key: { sk } = {}, ExpressionAttributeValues: values = {} }: UpdateCommandInput) => {
    moved++;
    const entry = entries.get(sk);
    if (!entry || entry.dueAt !== values[':dueAt']) throw conditionFailed();
    entry.dueAt = values[':later'];
    return { Attributes: { pk: 'pk', sk } };
  };
  dynamodb.rejects('Only queries and updates are simulated.');
  dynamodb.on(QueryCommand).callsFake(query);
  dynamodb.on(UpdateCommand).callsFake(update);

  return {
    clock,
    sent,
    left: () => entries.size,
    /** Adds entries that become due a millisecond apart. */
    add(count: number, { from = clock.now - minuteMs, in: only = partitions as readonly string[] } = {}): void {
      for (let nth = 0; nth < count; nth++) {
        const partition = only[nth % only.length] as string;
        const sk = `${String(added++).padStart(6, '0')} in ${partition}`;
        entries.set(sk, { partition, sk, dueAt: timestamp(from + nth) });
      }
    },
    /** Runs one sweep, and advances the clock to the next minute. */
    async minute({ done = true, until = clock.now, limited = true } = {}) {
      const [start, before] = [clock.now, sent.length];
      [read, moved, mostHeld] = [0, 0, 0];
      const hasTime = () => !limited || clock.now - start < budgetMs;
      const context = { table, clock: () => clock.now };
      const swept = await sweep(context, partitions, { until, hasTime }, async (items) => {
        const step = items.map(({ sk }) => sk as string);
        clock.now += stepMs;
        sent.push(...step);
        if (done) for (const sk of step) entries.delete(sk);
      });
      const took = clock.now - start;
      clock.now = Math.max(clock.now, start + minuteMs);
      return { ...swept, took, mostHeld, read, sentItems: sent.slice(before) };
    },
  };
}

describe('a sweep of 10,000 that are overdue', () => {
  it('holds a page of each partition at most, ends in its time, and goes on in the next minute', async () => {
    const index = simulatedIndex();
    index.add(10_000);
    const minutes = [await index.minute(), await index.minute(), await index.minute()];
    expect(minutes.map(({ woken }) => woken)).toEqual([capacity, capacity, 10_000 - 2 * capacity]);
    expect(minutes.map(({ unfinished }) => unfinished)).toEqual([true, true, false]);
    for (const { took, mostHeld } of minutes) {
      expect(took).toBeLessThanOrEqual(budgetMs + stepMs);
      expect(mostHeld).toBeLessThanOrEqual(400);
    }
    expect([index.sent.length, new Set(index.sent).size]).toEqual([10_000, 10_000]);
  });

  it('sends the message of each of them before any twice, though none is done meanwhile', async () => {
    const index = simulatedIndex();
    index.add(10_000 + capacity);
    for (let minute = 0; minute < 6; minute++) await index.minute({ done: false });
    expect(new Set(index.sent.slice(0, 10_000 + capacity)).size).toBe(10_000 + capacity);
  });

  it('goes in the order in which they became overdue, also while as many more come as it has time for', async () => {
    const index = simulatedIndex();
    index.add(10_000);
    for (let minute = 0; minute < 6; minute++) {
      index.add(capacity, { from: index.clock.now - 30_000 });
      expect(await index.minute()).toMatchObject({ woken: capacity, unfinished: true });
    }
    expect(index.sent.every((sk, nth) => nth === 0 || (index.sent[nth - 1] as string) < sk)).toBe(true);
    expect(index.left()).toBe(10_000);
  });

  it('in one partition does not delay the few in the others', async () => {
    const index = simulatedIndex();
    index.add(10_000, { in: ['0'] });
    index.add(30, { in: ['1', '2', '3'], from: index.clock.now - 30_000 });
    const { sentItems, woken } = await index.minute();
    expect(woken).toBe(capacity);
    expect(sentItems.filter((sk) => !sk.endsWith('0'))).toHaveLength(30);
  });
});

it.each([
  ['overdue or due in an hour', 1_000, opening + 60 * minuteMs],
  ['due at the very moment that overdue items are moved to', 0, opening + 5 * minuteMs - 250],
])('a sweep that reaches ahead sends the message of each item once: %s', async (_, overdue, from) => {
  const index = simulatedIndex();
  index.add(overdue);
  index.add(500, { from });
  const until = Date.parse('9999-12-31T23:59:59.999Z');
  const { woken, mostHeld, unfinished } = await index.minute({ until, limited: false, done: false });
  expect({ woken, unfinished }).toEqual({ woken: overdue + 500, unfinished: false });
  expect(new Set(index.sent).size).toBe(overdue + 500);
  expect(mostHeld).toBeLessThanOrEqual(400);
});

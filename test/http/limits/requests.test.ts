import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { burstOf, reportAfter } from '../../../lib/http/limits/bucket.ts';
import { admitRequest, finishRequest, type LimitContext } from '../../../lib/http/limits/requests.ts';
import { mayHaveChanged, runWithRequest } from '../../../lib/table/access/current-request.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { clockAt, openService } from '../../service.ts';
import { randomFrom } from '../../soak/random.ts';
import { meter } from '../../table/fixtures/capacity.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';

const [greedy, modest] = ['greedy', 'modest'] as Organization[] as [Organization, Organization];
const limit = 1_200;
const start = Date.parse('2026-03-01T12:00:00.000Z');

/** The requests of an organization: their rate, and the time of each in its container (20 ms by default). */
type Traffic = { organization: Organization; perMinute: number; durationMs?: number };

/** The numbers of sent requests, of those let through in each minute, and of requests and write units of the table. */
type Outcome = { sent: number; admitted: number[]; reports: number; units: number };

/**
 * Simulates containers that share a table. Each has its own memory and serves one request at a time, as in Lambda. A
 * request goes to any free container; without one Lambda throttles it. The time is simulated; the table is real. Returns
 * the outcome of each organization.
 */
async function simulateAll(traffic: Traffic[], { containers = 20, limit = 1_200, minutes = 2 } = {}) {
  const { table } = await openService();
  const { costOf } = meter(table);
  const random = randomFrom(7);
  const clock = clockAt(start);
  const fleet = Array.from({ length: containers }, () => {
    const requestCounts: LimitContext['requestCounts'] = new Map();
    const own = { ...table, sleep: async () => {} };
    return { context: { table: own, clock, monotonic: clock, log: { warn: () => {} }, requestCounts }, freeFrom: 0 };
  });
  const outcomes = traffic.map((): Outcome => ({ sent: 0, admitted: Array(minutes).fill(0), reports: 0, units: 0 }));
  const arrivals = traffic.flatMap(({ organization, perMinute, durationMs = 20 }, nth) =>
    Array.from({ length: perMinute * minutes }, (_, sent) => {
      const at = start + (sent * 60_000) / perMinute;
      return { organization, durationMs, at, outcome: outcomes[nth] as Outcome };
    }),
  );
  for (const { organization, durationMs, at, outcome } of arrivals.sort((one, other) => one.at - other.at)) {
    const free = fleet.filter(({ freeFrom }) => freeFrom <= at);
    const container = free[Math.floor(random() * free.length)];
    outcome.sent += 1;
    if (!container) continue;
    clock.now = at;
    const cost = await costOf(async () => {
      const admission = admitRequest(container.context, organization, limit);
      if (!admission.error) {
        const minute = Math.floor((at - start) / 60_000);
        outcome.admitted[minute] = (outcome.admitted[minute] as number) + 1;
        clock.now = container.freeFrom = at + durationMs;
      }
      await finishRequest(container.context, admission);
    });
    outcome.reports += cost.requests;
    outcome.units += cost.wcu;
  }
  return { table, outcomes };
}

it('20 containers let through the limit, a burst and unreported requests of ten times as many, and all of others', async () => {
  const { outcomes } = await simulateAll([
    { organization: greedy, perMinute: 10 * limit },
    { organization: modest, perMinute: limit / 2 },
  ]);
  const [limited, other] = outcomes as [Outcome, Outcome];
  const overshoot = burstOf(limit) + 20 * reportAfter(limit);
  expect(overshoot).toBe(520);
  expect(Math.max(...limited.admitted)).toBeLessThanOrEqual(limit + overshoot);
  // The overshoot happens once: the next requests wait until it is paid.
  const total = limited.admitted.reduce((sum, count) => sum + count, 0);
  expect(total).toBeLessThanOrEqual(2 * limit + overshoot);
  expect(total).toBeGreaterThanOrEqual(2 * limit);
  expect(other.admitted).toEqual([limit / 2, limit / 2]);
  // A report costs one write unit. A request over the limit needs no report.
  for (const { reports, units } of outcomes) expect(units).toBeLessThanOrEqual(reports);
  expect(limited.reports / limited.sent).toBeLessThan(0.01);
  expect(other.reports / other.sent).toBeLessThan(0.1);
});

it('an organization that uses its whole limit needs fewer than 0.1 requests to the table for each request', async () => {
  const { outcomes } = await simulateAll([{ organization: greedy, perMinute: limit }]);
  for (const { reports, sent } of outcomes) expect(reports / sent).toBeLessThan(0.1);
});

it('an organization with few requests needs no request to the table', async () => {
  const { table, outcomes } = await simulateAll([{ organization: modest, perMinute: 20 }], { minutes: 60 });
  expect(outcomes).toMatchObject([{ sent: 1_200, reports: 0 }]);
  expect(await getItem(table, keys.requestBucket(modest))).toBeUndefined();
});

it('requests of 10 s are limited, although each container gets few of them', async () => {
  const traffic = [{ organization: greedy, perMinute: 1_200, durationMs: 10_000 }];
  const { outcomes } = await simulateAll(traffic, { containers: 100, limit: 120, minutes: 3 });
  const [{ admitted, reports, sent }] = outcomes as [Outcome];
  // 100 containers could answer 600 a minute. Each reports with its second request.
  expect(Math.max(...admitted)).toBeLessThanOrEqual(120 + burstOf(120) + 100);
  expect(admitted.at(-1)).toBeLessThanOrEqual(1.05 * 120);
  expect(reports / sent).toBeLessThan(0.25);
});

describe('a container', () => {
  const clock = clockAt(start);
  let warnings: unknown[];
  /** A container with a limit of 60 requests a minute. */
  let context: LimitContext;

  beforeEach(async () => {
    const { table } = await openService();
    clock.now = start;
    warnings = [];
    const log = { warn: (message: unknown) => void warnings.push(message) } as LimitContext['log'];
    context = { table, clock, monotonic: clock, log, requestCounts: new Map() };
  });

  async function send(container = context) {
    const admission = admitRequest(container, greedy, 60);
    await finishRequest(container, admission);
    return admission;
  }
  const sendMany = (count: number) => Array.fromAsync({ length: count }, () => send());
  const reported = async () => (await getItem(context.table, keys.requestBucket(greedy)))?.fullAt as number | undefined;

  it('lets through a burst at once, then the limit', async () => {
    const statuses = async (count: number) => (await sendMany(count)).map(({ error }) => error?.status);
    expect(await statuses(11)).toEqual([...Array(10).fill(undefined), 429]);
    clock.now += 999;
    expect(await statuses(1)).toEqual([429]);
    clock.now += 1;
    expect(await statuses(2)).toEqual([undefined, 429]);
  });

  it('returns the remaining requests and the time to wait in headers', async () => {
    const { headers } = await send();
    expect(headers).toEqual({ 'RateLimit-Policy': '"requests";q=60;w=60', RateLimit: '"requests";r=9;t=9' });
    await sendMany(9);
    clock.now += 300;
    const rejected = await send();
    expect(rejected.headers.RateLimit).toBe('"requests";r=0;t=1');
    expect(rejected.error?.headers).toEqual({ 'Retry-After': '1' });
  });

  it('includes requests of other containers after its report', async () => {
    const other = { ...context, requestCounts: new Map() };
    for (let nth = 0; nth < 9; nth++) await send(other);
    // It reports after every third request.
    expect(await reported()).toBe(clock.now + 9_000);
    for (const { error } of await sendMany(3)) expect(error).toBeUndefined();
    expect((await send()).error?.headers).toEqual({ 'Retry-After': '3' });
  });

  it.each([
    [5_000, 'the process continues', () => context],
    [3_600_000, 'the process continues', () => context],
    [5_000, 'it starts again', () => ({ ...context, requestCounts: new Map() })],
    [3_600_000, 'it starts again', () => ({ ...context, requestCounts: new Map() })],
  ] as const)('waits no longer after a step back of %d ms if %s', async (back, _, next) => {
    const monotonic = clockAt(0);
    context = { ...context, monotonic };
    await sendMany(11);
    clock.now += 1_000;
    expect((await send()).error).toBeUndefined();
    expect(await reported()).toBeGreaterThanOrEqual(clock.now + 8_000);
    clock.now -= back;
    context = next();
    await sendMany(4);
    const { error } = await send();
    expect(Number(error?.headers['Retry-After'])).toBeLessThanOrEqual(4);
    clock.now += 4_000;
    expect((await send()).error).toBeUndefined();
    clock.now += 5_000;
    await sendMany(5);
    expect(await reported()).toBeLessThan(clock.now + 20_000);
  });

  it('waits at most a minute for a time of a version that stored no time of its report', async () => {
    const item = { ...keys.requestBucket(greedy), fullAt: start + 3_600_000 };
    await transact(context.table, [{ Put: { Item: item } }]);
    await sendMany(4);
    expect(Number((await send()).error?.headers['Retry-After'])).toBeLessThanOrEqual(60);
  });

  it('counts alone if a report fails, and reports again after 10 s', async () => {
    const { table } = context;
    context.table = { ...table, name: 'no-such-table' };
    expect((await sendMany(11)).filter(({ error }) => error)).toHaveLength(1);
    expect(warnings).toEqual(['request report failed; this container counts alone']);
    context.table = table;
    clock.now += 9_000;
    await send();
    expect(await reported()).toBeUndefined();
    clock.now += 1_000;
    await send();
    expect(await reported()).toBeGreaterThan(clock.now + 10_000);
  });

  it('reports outside the request: a counted read changes nothing', async () => {
    const changed = await runWithRequest({ requestId: 'read' }, async () => {
      await sendMany(3);
      return mayHaveChanged();
    });
    expect([await reported(), changed]).toEqual([expect.any(Number), false]);
  });

  it('does not delay a response for a report that hangs', async () => {
    context.table = interceptTable(context.table, () => new Promise(() => {}));
    const admissions = await sendMany(4);
    expect(admissions.map(({ error }) => error)).toEqual(Array(4).fill(undefined));
  });
});

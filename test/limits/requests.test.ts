import { beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import { burstOf, reportAfter } from '../../lib/limits/bucket.ts';
import { admitRequest, finishRequest, type LimitContext } from '../../lib/limits/requests.ts';
import { mayHaveChanged, runWithRequest } from '../../lib/request-context.ts';
import { keys } from '../../lib/table/keys.ts';
import { getItem } from '../../lib/table/reads.ts';
import { clockAt, openService } from '../service.ts';
import { interceptTable } from '../table/fixtures/intercepted-table.ts';
import { type Outcome, simulate } from './simulation.ts';

const [greedy, modest] = ['greedy', 'modest'] as Organization[] as [Organization, Organization];
const limit = 1_200;
const containers = 20;

const total = ({ admitted }: Outcome) => admitted.reduce((sum, count) => sum + count, 0);

describe('20 containers that share a limit of 1,200 requests a minute', () => {
  let outcomes: Map<Organization, Outcome>;
  const of = (organization: Organization) => outcomes.get(organization) as Outcome;
  beforeAll(async () => {
    const { table } = await openService();
    const traffic = [
      { organization: greedy, perMinute: 10 * limit },
      { organization: modest, perMinute: limit / 2 },
    ];
    outcomes = await simulate(table, { containers, limit, minutes: 2, traffic });
  }, 60_000);

  it('let through the limit, a burst and unreported requests of ten times as many requests', () => {
    const overshoot = burstOf(limit) + containers * reportAfter(limit);
    expect(overshoot).toBe(520);
    for (const admitted of of(greedy).admitted) expect(admitted).toBeLessThanOrEqual(limit + overshoot);
    // The overshoot happens once: the next requests wait until it is paid.
    expect(total(of(greedy))).toBeLessThanOrEqual(2 * limit + overshoot);
    expect(total(of(greedy))).toBeGreaterThanOrEqual(2 * limit);
  });

  it('let through all requests of another organization', () => {
    expect(of(modest).admitted).toEqual([limit / 2, limit / 2]);
  });

  it('send fewer than 0.1 requests to the table for each request, with one write unit each', () => {
    for (const { reports, sent } of outcomes.values()) expect(reports / sent).toBeLessThan(0.1);
    for (const { reports, units } of outcomes.values()) expect(units).toBeLessThanOrEqual(reports);
    // A request over the limit needs no request to the table.
    expect(of(greedy).reports / of(greedy).sent).toBeLessThan(0.01);
  });
});

it('an organization that uses its whole limit needs fewer than 0.1 requests to the table for each request', async () => {
  const { table } = await openService();
  const outcomes = await simulate(table, {
    ...{ containers, limit, minutes: 2 },
    traffic: [{ organization: greedy, perMinute: limit }],
  });
  const { reports, sent } = outcomes.get(greedy) as Outcome;
  expect(reports / sent).toBeLessThan(0.1);
}, 60_000);

it('an organization with few requests needs no request to the table', async () => {
  const { table } = await openService();
  const outcomes = await simulate(table, {
    ...{ containers, limit, minutes: 60 },
    traffic: [{ organization: modest, perMinute: 20 }],
  });
  expect(outcomes.get(modest)).toMatchObject({ sent: 1_200, reports: 0 });
  expect(await getItem(table, keys.requestBucket(modest))).toBeUndefined();
});

it('requests of 10 s are limited, although each container gets few of them', async () => {
  const { table } = await openService();
  const outcomes = await simulate(table, {
    ...{ containers: 100, limit: 120, minutes: 3 },
    traffic: [{ organization: greedy, perMinute: 1_200, durationMs: 10_000 }],
  });
  const { admitted, reports, sent } = outcomes.get(greedy) as Outcome;
  // 100 containers could answer 600 a minute. Each reports with its second request.
  const overshoot = burstOf(120) + 100;
  expect(Math.max(...admitted)).toBeLessThanOrEqual(120 + overshoot);
  expect(admitted.at(-1)).toBeLessThanOrEqual(1.05 * 120);
  expect(reports / sent).toBeLessThan(0.25);
}, 60_000);

describe('a container', () => {
  /** Creates a container with a limit of 60 requests a minute. */
  async function createContainer() {
    const { table } = await openService();
    const clock = clockAt(Date.parse('2026-03-01T12:00:00.000Z'));
    const warnings: unknown[] = [];
    const log = { warn: (message: unknown) => void warnings.push(message) } as LimitContext['log'];
    const context: LimitContext = { table, clock, log, requestCounts: new Map() };
    const send = async () => {
      const admission = admitRequest(context, greedy, 60);
      await finishRequest(context, admission);
      return admission;
    };
    return { table, clock, warnings, context, send };
  }

  it('lets through a burst at once, then the limit', async () => {
    const { clock, send } = await createContainer();
    const statuses = async (count: number) =>
      (await Array.fromAsync({ length: count }, send)).map(({ error }) => error?.status);
    expect(await statuses(11)).toEqual([...Array(10).fill(undefined), 429]);
    clock.now += 999;
    expect(await statuses(1)).toEqual([429]);
    clock.now += 1;
    expect(await statuses(2)).toEqual([undefined, 429]);
  });

  it('returns the remaining requests and the time to wait in headers', async () => {
    const { clock, send } = await createContainer();
    const first = await send();
    expect(first.headers).toEqual({ 'RateLimit-Policy': '"requests";q=60;w=60', RateLimit: '"requests";r=9;t=9' });
    for (let nth = 0; nth < 9; nth++) await send();
    clock.now += 300;
    const refused = await send();
    expect(refused.headers.RateLimit).toBe('"requests";r=0;t=1');
    expect(refused.error?.headers).toEqual({ 'Retry-After': '1' });
  });

  it('includes requests of other containers after its report', async () => {
    const { table, clock, context, send } = await createContainer();
    const elsewhere = { ...context, requestCounts: new Map() };
    for (let nth = 0; nth < 9; nth++) await finishRequest(elsewhere, admitRequest(elsewhere, greedy, 60));
    // It reports after every third request.
    expect((await getItem(table, keys.requestBucket(greedy)))?.fullAt).toBe(clock.now + 9_000);
    for (let nth = 0; nth < 3; nth++) expect((await send()).error).toBeUndefined();
    const refused = await send();
    expect(refused.error?.headers).toEqual({ 'Retry-After': '3' });
  });

  it('counts alone if a report fails, and reports again after 10 s', async () => {
    const { context, clock, warnings, send } = await createContainer();
    const { table } = context;
    context.table = { ...table, name: 'no-such-table' };
    const admissions = await Array.fromAsync({ length: 11 }, send);
    expect(admissions.filter(({ error }) => error)).toHaveLength(1);
    expect(warnings).toEqual(['request report failed; this container counts alone']);
    context.table = table;
    clock.now += 9_000;
    await send();
    expect(await getItem(table, keys.requestBucket(greedy))).toBeUndefined();
    clock.now += 1_000;
    await send();
    expect((await getItem(table, keys.requestBucket(greedy)))?.fullAt).toBeGreaterThan(clock.now + 10_000);
  });

  it('reports outside the request: a counted read changes nothing', async () => {
    const { table, send } = await createContainer();
    const changed = await runWithRequest({ requestId: 'read' }, async () => {
      for (let nth = 0; nth < 3; nth++) await send();
      return mayHaveChanged();
    });
    expect(await getItem(table, keys.requestBucket(greedy))).toBeDefined();
    expect(changed).toBe(false);
  });

  it('does not delay a response for a report that hangs', async () => {
    const { context, send } = await createContainer();
    context.table = interceptTable(context.table, () => new Promise(() => {}));
    const admissions = await Array.fromAsync({ length: 4 }, send);
    expect(admissions.map(({ error }) => error)).toEqual(Array(4).fill(undefined));
  });
});

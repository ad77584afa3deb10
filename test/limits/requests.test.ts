import { beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import { burstOf, reportAfter } from '../../lib/limits/bucket.ts';
import { admitRequest, finishRequest, type LimitContext } from '../../lib/limits/requests.ts';
import { mayHaveChanged, runWithRequest } from '../../lib/request-context.ts';
import { keys } from '../../lib/table/keys.ts';
import { getItem } from '../../lib/table/reads.ts';
import { clockAt, openService } from '../service.ts';
import { interceptTable } from '../table/intercepted-table.ts';
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

  it('let through the limit, a burst and what they have not reported, of ten times as much', () => {
    const overshoot = burstOf(limit) + containers * reportAfter(limit);
    expect(overshoot).toBe(520);
    for (const admitted of of(greedy).admitted) expect(admitted).toBeLessThanOrEqual(limit + overshoot);
    // The overshoot is spent once: it is a debt that the next requests wait for.
    expect(total(of(greedy))).toBeLessThanOrEqual(2 * limit + overshoot);
    expect(total(of(greedy))).toBeGreaterThanOrEqual(2 * limit);
  });

  it('let through every request of another organization', () => {
    expect(of(modest).admitted).toEqual([limit / 2, limit / 2]);
  });

  it('make fewer than 0.1 requests to the table for each that they are sent, of one unit each', () => {
    for (const { reports, sent } of outcomes.values()) expect(reports / sent).toBeLessThan(0.1);
    for (const { reports, units } of outcomes.values()) expect(units).toBeLessThanOrEqual(reports);
    // What is refused is refused without a request.
    expect(of(greedy).reports / of(greedy).sent).toBeLessThan(0.01);
  });
});

it('an organization that calls exactly as often as it may costs fewer than 0.1 requests to the table each', async () => {
  const { table } = await openService();
  const outcomes = await simulate(table, {
    ...{ containers, limit, minutes: 2 },
    traffic: [{ organization: greedy, perMinute: limit }],
  });
  const { reports, sent } = outcomes.get(greedy) as Outcome;
  expect(reports / sent).toBeLessThan(0.1);
}, 60_000);

it('an organization with little traffic costs no request to the table', async () => {
  const { table } = await openService();
  const outcomes = await simulate(table, {
    ...{ containers, limit, minutes: 60 },
    traffic: [{ organization: modest, perMinute: 20 }],
  });
  expect(outcomes.get(modest)).toMatchObject({ sent: 1_200, reports: 0 });
  expect(await getItem(table, keys.requestBucket(modest))).toBeUndefined();
});

it('requests of 10 s are limited as well, though each container is sent few of them', async () => {
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
  /** A container whose table takes no reports, or takes them as long as the test says. */
  async function openContainer() {
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

  it('lets through a burst at once, then as many as the limit allows', async () => {
    const { clock, send } = await openContainer();
    const statuses = async (count: number) =>
      (await Array.fromAsync({ length: count }, send)).map(({ refusal }) => refusal?.status);
    expect(await statuses(11)).toEqual([...Array(10).fill(undefined), 429]);
    clock.now += 999;
    expect(await statuses(1)).toEqual([429]);
    clock.now += 1;
    expect(await statuses(2)).toEqual([undefined, 429]);
  });

  it('says how many more are let through at once, and when to come again', async () => {
    const { clock, send } = await openContainer();
    const first = await send();
    expect(first.headers).toEqual({ 'RateLimit-Policy': '"requests";q=60;w=60', RateLimit: '"requests";r=9;t=9' });
    for (let nth = 0; nth < 9; nth++) await send();
    clock.now += 300;
    const refused = await send();
    expect(refused.headers.RateLimit).toBe('"requests";r=0;t=1');
    expect(refused.refusal?.headers).toEqual({ 'Retry-After': '1' });
  });

  it('waits for what others have let through, once it hears of it', async () => {
    const { table, clock, context, send } = await openContainer();
    const elsewhere = { ...context, requestCounts: new Map() };
    for (let nth = 0; nth < 9; nth++) await finishRequest(elsewhere, admitRequest(elsewhere, greedy, 60));
    // It reports after every third request.
    expect((await getItem(table, keys.requestBucket(greedy)))?.fullAt).toBe(clock.now + 9_000);
    for (let nth = 0; nth < 3; nth++) expect((await send()).refusal).toBeUndefined();
    const refused = await send();
    expect(refused.refusal?.headers).toEqual({ 'Retry-After': '3' });
  });

  it('goes on by its own count where the table is not there, and tries again 10 s later', async () => {
    const { context, clock, warnings, send } = await openContainer();
    const { table } = context;
    context.table = { ...table, name: 'no-such-table' };
    const answers = await Array.fromAsync({ length: 11 }, send);
    expect(answers.filter(({ refusal }) => refusal)).toHaveLength(1);
    expect(warnings).toEqual(['requests are counted by this container alone']);
    context.table = table;
    clock.now += 9_000;
    await send();
    expect(await getItem(table, keys.requestBucket(greedy))).toBeUndefined();
    clock.now += 1_000;
    await send();
    expect((await getItem(table, keys.requestBucket(greedy)))?.fullAt).toBeGreaterThan(clock.now + 10_000);
  });

  it('reports as nobody: a read that is counted has changed nothing', async () => {
    const { table, send } = await openContainer();
    const changed = await runWithRequest({ requestId: 'read' }, async () => {
      for (let nth = 0; nth < 3; nth++) await send();
      return mayHaveChanged();
    });
    expect(await getItem(table, keys.requestBucket(greedy))).toBeDefined();
    expect(changed).toBe(false);
  });

  it('does not hold a response for a report that hangs', async () => {
    const { context, send } = await openContainer();
    context.table = interceptTable(context.table, () => new Promise(() => {}));
    const answers = await Array.fromAsync({ length: 4 }, send);
    expect(answers.map(({ refusal }) => refusal)).toEqual(Array(4).fill(undefined));
  });
});

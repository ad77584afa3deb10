import type { Organization } from '../../lib/contract/organization.ts';
import { admitRequest, finishRequest, type RequestCounts } from '../../lib/limits/requests.ts';
import type { Table } from '../../lib/table/client.ts';
import { randomFrom } from '../soak/random.ts';
import { meter } from '../table/fixtures/capacity.ts';

/** The requests of an organization: their rate, and the time of each in its container (20 ms by default). */
export type Traffic = { organization: Organization; perMinute: number; durationMs?: number };

/** The numbers of sent requests, of those let through in each minute, and of requests and write units of the table. */
export type Outcome = { sent: number; admitted: number[]; reports: number; units: number };

/**
 * Simulates containers that share a table. Each has its own memory and serves one request at a time, as in Lambda. A
 * request goes to any free container. The time is simulated, and the table is one of the engine.
 *
 * @param limit requests a minute
 * @returns the outcome of each organization
 */
export async function simulate(
  table: Table,
  { containers, limit, minutes, traffic }: { containers: number; limit: number; minutes: number; traffic: Traffic[] },
): Promise<Map<Organization, Outcome>> {
  const random = randomFrom(7);
  const withoutPauses: Table = { ...table, sleep: async () => {} };
  const clock = () => now;
  const fleet = Array.from({ length: containers }, () => ({
    context: { table: withoutPauses, clock, log: { warn: () => {} }, requestCounts: new Map() as RequestCounts },
    freeFrom: 0,
  }));
  const start = Date.parse('2026-03-01T12:00:00.000Z');
  let now = start;
  const { costOf } = meter(table);
  const outcomes = new Map<Organization, Outcome>();
  for (const { organization } of traffic)
    outcomes.set(organization, { sent: 0, admitted: Array(minutes).fill(0), reports: 0, units: 0 });
  const arrivals = traffic
    .flatMap(({ perMinute, ...one }) => {
      const gapMs = 60_000 / perMinute;
      return Array.from({ length: perMinute * minutes }, (_, nth) => ({ ...one, at: start + nth * gapMs }));
    })
    .sort((one, other) => one.at - other.at);
  for (const { organization, durationMs = 20, at } of arrivals) {
    const free = fleet.filter(({ freeFrom }) => freeFrom <= at);
    const container = free[Math.floor(random() * free.length)];
    const outcome = outcomes.get(organization) as Outcome;
    outcome.sent += 1;
    // Without a free container Lambda throttles the request.
    if (!container) continue;
    now = at;
    const cost = await costOf(async () => {
      const admission = admitRequest(container.context, organization, limit);
      if (!admission.error) {
        const minute = Math.floor((at - start) / 60_000);
        outcome.admitted[minute] = (outcome.admitted[minute] as number) + 1;
        container.freeFrom = at + durationMs;
        now = at + durationMs;
      }
      await finishRequest(container.context, admission);
    });
    outcome.reports += cost.requests;
    outcome.units += cost.wcu;
  }
  return outcomes;
}

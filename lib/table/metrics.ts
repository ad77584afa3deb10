import { timestamp, ulidFrom, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { type Ending, facetOf } from './execution-items.ts';
import { keys } from './keys.ts';
import { everything } from './listing.ts';
import { queryItems } from './reads.ts';
import { Conflict, retryOnConflict } from './transact.ts';
import type { Item, Write } from './write.ts';

/** A bucket of the histogram of durations is a tenth wider than the one before: its middle is within 5 % of all in it. */
const growth = 1.1;

/** The bucket of a duration in milliseconds; 0 for less than one, then from 1 on, on a logarithmic scale. */
function bucketOf(durationMs: number): number {
  return durationMs < 1 ? 0 : 1 + Math.floor(Math.log(durationMs) / Math.log(growth));
}

/** The duration that a bucket stands for, in milliseconds: the middle of it, on the same scale. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : growth ** (bucket - 0.5);
}

/**
 * The write that counts a finished execution: how it ended, its tokens, its duration as part of a sum, and in a
 * histogram. It goes into the transaction that ends the execution, so that each is counted once
 * (docs/architecture.md#agent-metrics).
 *
 * @param startedAt the execution belongs to this moment's UTC day; ISO 8601
 */
export function metricsWrite(
  organization: Organization,
  agentId: string,
  startedAt: string,
  { status, tokensUsed, durationMs }: Ending,
): Write {
  return {
    Update: {
      Key: keys.metricsOfDay(organization, ulidOf(agentId), startedAt.slice(0, 10)),
      UpdateExpression: 'ADD #status :one, #tokens :tokens, #durationMs :durationMs, #bucket :one',
      ExpressionAttributeNames: {
        '#status': status,
        '#tokens': 'tokens',
        '#durationMs': 'durationMs',
        '#bucket': `h${bucketOf(durationMs)}`,
      },
      ExpressionAttributeValues: { ':one': 1, ':tokens': tokensUsed, ':durationMs': durationMs },
    },
  };
}

/** The finished executions of an agent that were started on some days, in numbers. */
export type Totals = {
  completed: number;
  failed: number;
  tokens: number;
  /** The sum of all durations. */
  durationMs: number;
  /** How often each duration was met, from the shortest on, as the histogram has them. */
  histogram: { durationMs: number; count: number }[];
};

const dayMs = 24 * 60 * 60 * 1000;

/** The numbers of agents, from what ends of executions have counted. */
export function openMetricsStore(table: Table) {
  return {
    /**
     * The totals of an agent's finished executions that were started since the start of a UTC day, `YYYY-MM-DD`, and how
     * many run now. One that ends between two reads would be in neither or in both: those that ran before the totals
     * were read must run behind them too.
     */
    totals(organization: Organization, agentId: string, since: string): Promise<Totals & { running: number }> {
      return retryOnConflict(table, async () => {
        const before = await running(organization, agentId);
        const totals = await finishedSince(organization, agentId, since);
        const after = before.length > 0 ? await running(organization, agentId) : [];
        if (before.some((id) => !after.includes(id))) throw new Conflict();
        return { ...totals, running: before.length };
      });
    },

    /** The durations of an agent's finished executions that were started since the start of a UTC day, one by one. */
    async durations(organization: Organization, agentId: string, since: string): Promise<number[]> {
      const rows = await rowsOf(organization, agentId, everything, ulidFrom(Date.parse(since), new Uint8Array(10)));
      return rows.flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs as number]));
    },
  };

  async function finishedSince(organization: Organization, agentId: string, since: string): Promise<Totals> {
    const totals = { completed: 0, failed: 0, tokens: 0, durationMs: 0 };
    const buckets = new Map<number, number>();
    const pk = keys.metrics(organization, ulidOf(agentId));
    for await (const item of queryItems(table, { pk, from: since })) {
      for (const name of Object.keys(totals) as (keyof typeof totals)[])
        totals[name] += (item[name] as number | undefined) ?? 0;
      for (const [name, count] of Object.entries(item)) {
        const [, bucket] = /^h(\d+)$/.exec(name) ?? [];
        if (bucket !== undefined) buckets.set(Number(bucket), (buckets.get(Number(bucket)) ?? 0) + (count as number));
      }
    }
    const histogram = [...buckets]
      .sort(([a], [b]) => a - b)
      .map(([bucket, count]) => ({ durationMs: middleOf(bucket), count }));
    return { ...totals, histogram };
  }

  /** The ids of an agent's executions that run. */
  async function running(organization: Organization, agentId: string): Promise<string[]> {
    const rows = await rowsOf(organization, agentId, facetOf('running'), '');
    return rows.map(({ id }) => id as string);
  }

  /** The rows of an agent's executions in a run of its list, from a ULID on. */
  function rowsOf(organization: Organization, agentId: string, run: string, first: string): Promise<Item[]> {
    const { rows: pk } = keys.executionScope(organization, ulidOf(agentId));
    return Array.fromAsync(queryItems(table, { pk, from: `${run}#${first}`, to: `${run}#~` }));
  }
}

export type MetricsStore = ReturnType<typeof openMetricsStore>;

/** The first of the last so many UTC days, today included, as `YYYY-MM-DD`. */
export function firstDayOf(days: number, now: number): string {
  return timestamp((Math.floor(now / dayMs) - days + 1) * dayMs).slice(0, 10);
}

import { timestamp, ulidFrom, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItems, queryItems } from '../access/reads.ts';
import type { Item, Write } from '../access/write.ts';
import { type Ending, type ExecutionHead, executionFrom } from './execution-items.ts';
import { type RunningRow, readEndedRows, readWithRunning } from './execution-lists.ts';

/**
 * A bucket of the histogram of durations is 10 % wider than the one before. So the middle of a bucket differs from each
 * duration in it by 5 % at most.
 */
const growth = 1.1;

/** Returns the bucket of a duration in milliseconds: 0 below one millisecond, and from 1 on a logarithmic scale. */
function bucketOf(durationMs: number): number {
  return durationMs < 1 ? 0 : 1 + Math.floor(Math.log(durationMs) / Math.log(growth));
}

/** Returns the middle of a bucket, in milliseconds, on the same scale. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : growth ** (bucket - 0.5);
}

/** The fields of an execution by which its metrics are counted. */
type CountedExecution = Pick<ExecutionHead, 'organization' | 'agentId' | 'startedAt' | 'promptHash'>;

/** Returns the UTC day of a timestamp, as `YYYY-MM-DD`. */
const dayOf = (at: string) => at.slice(0, 'YYYY-MM-DD'.length);

/**
 * Returns the writes that count a finished execution: its status, its tokens, and its duration in a sum and in a
 * histogram. They are part of the transaction that ends the execution, so that each execution is counted once
 * (docs/architecture.md#metrics). It counts for the UTC day of its start, once for its agent and prompt, and once for the
 * organization. Each prompt has an item of its own, so that a change of the prompt costs no further write.
 */
export function metricsWrites(
  { organization, agentId, startedAt, promptHash }: CountedExecution,
  { status, tokensUsed, durationMs }: Ending,
): Write[] {
  const date = dayOf(startedAt);
  const counting = [
    keys.metricsOfDay(organization, date, ulidOf(agentId), promptHash),
    keys.metricsOfDay(organization, date),
  ];
  return counting.map((Key) => ({
    Update: {
      Key,
      UpdateExpression: 'ADD #status :one, #tokens :tokens, #durationMs :durationMs, #bucket :one',
      ExpressionAttributeNames: {
        '#status': status,
        '#tokens': 'tokens',
        '#durationMs': 'durationMs',
        '#bucket': `h${bucketOf(durationMs)}`,
      },
      ExpressionAttributeValues: { ':one': 1, ':tokens': tokensUsed, ':durationMs': durationMs },
    },
  }));
}

/**
 * Returns the writes that add tokens to the metrics of an execution that has been counted, or that was deleted.
 *
 * @param isDeleted its agent has no metrics any more; the metrics of the organization have the tokens of all executions
 */
export function tokenWrites(
  { organization, agentId, startedAt, promptHash }: CountedExecution,
  tokens: number,
  isDeleted = false,
): Write[] {
  const date = dayOf(startedAt);
  const counting = [
    ...(isDeleted ? [] : [keys.metricsOfDay(organization, date, ulidOf(agentId), promptHash)]),
    keys.metricsOfDay(organization, date),
  ];
  return counting.map((Key) => ({
    Update: {
      Key,
      UpdateExpression: 'ADD #tokens :tokens',
      ExpressionAttributeNames: { '#tokens': 'tokens' },
      ExpressionAttributeValues: { ':tokens': tokens },
    },
  }));
}

/** The totals of executions that were started on some days. All but `running` are totals of finished executions. */
export type Totals = {
  completed: number;
  failed: number;
  running: number;
  tokens: number;
  /** The sum of all durations. */
  durationMs: number;
  /** The durations of the buckets and the number of executions in each, in ascending order. */
  histogram: { durationMs: number; count: number }[];
};

/** The totals of each UTC day (`YYYY-MM-DD`) that has any. */
export type Days = ReadonlyMap<string, Totals>;

/** The executions that count: of all agents or of one, with any prompt or with one, and started since a UTC day. */
type Counted = {
  agentId?: string | undefined;
  promptHash?: string | undefined;
  /** `YYYY-MM-DD` */
  since: string;
};

/**
 * Returns the totals of each day: of the finished executions that were started since the start of a UTC day, and of the
 * executions that are running now.
 *
 * @param counted.promptHash only with an agent
 */
export function readDays(context: TableContext, organization: Organization, counted: Counted): Promise<Days> {
  const { agentId, promptHash } = counted;
  return readWithRunning(context, organization, agentId, async (rows) => {
    const days = await readFinished(context, organization, counted);
    const running = promptHash === undefined ? rows : await readWithPrompt(context, organization, rows, promptHash);
    for (const { startedAt } of running) {
      const date = dayOf(startedAt);
      const day = days.get(date) ?? noTotals();
      days.set(date, { ...day, running: day.running + 1 });
    }
    return days;
  });
}

/** Returns totals without executions. */
export function noTotals(): Totals {
  return { completed: 0, failed: 0, running: 0, tokens: 0, durationMs: 0, histogram: [] };
}

/** Returns the sum of totals. */
export function sumOfTotals(totals: Iterable<Totals>): Totals {
  const sum = noTotals();
  const counts = new Map<number, number>();
  for (const one of totals) {
    for (const name of ['completed', 'failed', 'running', 'tokens', 'durationMs'] as const) sum[name] += one[name];
    for (const { durationMs, count } of one.histogram) counts.set(durationMs, (counts.get(durationMs) ?? 0) + count);
  }
  sum.histogram = [...counts].sort(([a], [b]) => a - b).map(([durationMs, count]) => ({ durationMs, count }));
  return sum;
}

/** Returns the executions with a prompt. The rows of lists do not have it, so the heads are read. */
async function readWithPrompt(
  { table }: TableContext,
  organization: Organization,
  running: readonly RunningRow[],
  promptHash: string,
): Promise<ExecutionHead[]> {
  const heads = await getItems(
    table,
    running.map(({ id }) => keys.executionHead(organization, ulidOf(id))),
  );
  return heads.map(executionFrom).filter((execution) => execution.promptHash === promptHash);
}

/**
 * Returns the duration of each finished execution of an agent that was started since the start of a UTC day, in
 * milliseconds, with the day of its start.
 *
 * @param since `YYYY-MM-DD`
 */
export async function readDurations(
  context: TableContext,
  organization: Organization,
  agentId: string,
  since: string,
): Promise<{ date: string; durationMs: number }[]> {
  const first = ulidFrom(Date.parse(since), new Uint8Array(10));
  const rows = await readEndedRows(context, organization, agentId, first);
  return rows.map(({ startedAt, durationMs }) => ({
    date: dayOf(startedAt as string),
    durationMs: durationMs as number,
  }));
}

async function readFinished(
  { table }: TableContext,
  organization: Organization,
  { agentId, promptHash, since }: Counted,
): Promise<Map<string, Totals>> {
  const days = new Map<string, Totals>();
  const pk = keys.metrics(organization, agentId && ulidOf(agentId));
  for await (const item of queryItems(table, { pk, from: since })) {
    const sk = item.sk as string;
    if (promptHash !== undefined && !sk.endsWith(`#${promptHash}`)) continue;
    const date = dayOf(sk);
    days.set(date, sumOfTotals([days.get(date) ?? noTotals(), totalsFrom(item)]));
  }
  return days;
}

function totalsFrom(item: Item): Totals {
  const numberOf = (name: string) => (item[name] as number | undefined) ?? 0;
  return {
    completed: numberOf('completed'),
    failed: numberOf('failed'),
    running: 0,
    tokens: numberOf('tokens'),
    durationMs: numberOf('durationMs'),
    histogram: Object.keys(item).flatMap((name) => {
      const [, bucket] = /^h(\d+)$/.exec(name) ?? [];
      return bucket === undefined ? [] : [{ durationMs: middleOf(Number(bucket)), count: numberOf(name) }];
    }),
  };
}

const dayMs = 24 * 60 * 60 * 1000;

/** Returns the last `count` UTC days as `YYYY-MM-DD`, oldest first, today included. */
export function lastDays(count: number, now: number): string[] {
  const today = Math.floor(now / dayMs);
  return Array.from({ length: count }, (_, at) => dayOf(timestamp((today - count + 1 + at) * dayMs)));
}

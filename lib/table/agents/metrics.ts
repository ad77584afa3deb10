import { timestamp, ulidFrom, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../client.ts';
import { type Ending, type ExecutionHead, executionFrom, facetOf } from '../executions/execution-items.ts';
import { keys } from '../keys.ts';
import { everything } from '../lists/listing.ts';
import { getItems, queryItems } from '../reads.ts';
import { Conflict, retryOnConflict } from '../transact.ts';
import type { Item, Write } from '../write.ts';

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

/**
 * Returns the write that counts a finished execution: its status, its tokens, and its duration in a sum and in a
 * histogram. It is part of the transaction that ends the execution, so that each execution is counted once
 * (docs/architecture.md#agent-metrics). It counts for the UTC day of its start and for its prompt. Each prompt has an item of
 * its own, so that a change of the prompt costs no further write.
 */
export function metricsWrite(
  { organization, agentId, startedAt, promptHash }: CountedExecution,
  { status, tokensUsed, durationMs }: Ending,
): Write {
  return {
    Update: {
      Key: keys.metricsOfDay(organization, ulidOf(agentId), startedAt.slice(0, 10), promptHash),
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

/** The totals of the finished executions of an agent that were started on some days. */
export type Totals = {
  completed: number;
  failed: number;
  tokens: number;
  /** The sum of all durations. */
  durationMs: number;
  /** The durations of the buckets and the number of executions in each, in ascending order. */
  histogram: { durationMs: number; count: number }[];
};

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Returns the totals of an agent's finished executions that were started since the start of a UTC day, and how many are
 * running now. An execution that ends between two reads would count twice or not at all: the executions that were running
 * before the totals were read must be running after that, too.
 *
 * @param since `YYYY-MM-DD`
 * @param promptHash counts only the executions with this prompt
 */
export function readTotals(
  context: TableContext,
  organization: Organization,
  agentId: string,
  { since, promptHash }: { since: string; promptHash?: string | undefined },
): Promise<Totals & { running: number }> {
  return retryOnConflict(context.table, async () => {
    const before = await readRunning(context, organization, agentId);
    const totals = await readFinished(context, organization, agentId, { since, promptHash });
    const counted = promptHash === undefined ? before : await readWithPrompt(context, organization, before, promptHash);
    const after = before.length > 0 ? await readRunning(context, organization, agentId) : [];
    if (before.some((id) => !after.includes(id))) throw new Conflict();
    return { ...totals, running: counted.length };
  });
}

/** Returns the executions with a prompt. The rows of lists do not have it, so the heads are read. */
async function readWithPrompt(
  { table }: TableContext,
  organization: Organization,
  ids: readonly string[],
  promptHash: string,
): Promise<ExecutionHead[]> {
  const heads = await getItems(
    table,
    ids.map((id) => keys.executionHead(organization, ulidOf(id))),
  );
  return heads.map(executionFrom).filter((execution) => execution.promptHash === promptHash);
}

/**
 * Returns the duration of each finished execution of an agent that was started since the start of a UTC day, in
 * milliseconds.
 *
 * @param since `YYYY-MM-DD`
 */
export async function readDurations(
  context: TableContext,
  organization: Organization,
  agentId: string,
  since: string,
): Promise<number[]> {
  const rows = await readRows(context, organization, agentId, {
    facet: everything,
    first: ulidFrom(Date.parse(since), new Uint8Array(10)),
  });
  return rows.flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs as number]));
}

async function readFinished(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
  { since, promptHash }: { since: string; promptHash: string | undefined },
): Promise<Totals> {
  const totals = { completed: 0, failed: 0, tokens: 0, durationMs: 0 };
  const buckets = new Map<number, number>();
  const pk = keys.metrics(organization, ulidOf(agentId));
  for await (const item of queryItems(table, { pk, from: since })) {
    if (promptHash !== undefined && !(item.sk as string).endsWith(`#${promptHash}`)) continue;
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

/** Returns the ids of an agent's executions that are running. */
async function readRunning(context: TableContext, organization: Organization, agentId: string): Promise<string[]> {
  const rows = await readRows(context, organization, agentId, { facet: facetOf('running') });
  return rows.map(({ id }) => id as string);
}

/** Returns the rows of a facet of an agent's list, from a ULID on. */
function readRows(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
  { facet, first = '' }: { facet: string; first?: string },
): Promise<Item[]> {
  const { rows: pk } = keys.executionScope(organization, ulidOf(agentId));
  return Array.fromAsync(queryItems(table, { pk, from: `${facet}#${first}`, to: `${facet}#~` }));
}

/** Returns the first of the last `days` UTC days, today included, as `YYYY-MM-DD`. */
export function firstDayOf(days: number, now: number): string {
  return timestamp((Math.floor(now / dayMs) - days + 1) * dayMs).slice(0, 10);
}

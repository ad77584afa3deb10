import { ulidOf } from '../../contract/ids.ts';
import type { TableContext } from '../access/client.ts';
import { type Key, keys } from '../access/keys.ts';
import { getEach } from '../access/reads.ts';
import { Conflict, retryOnConflict, transact } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import {
  type ExecutionHead,
  isRunning,
  type LateTokens,
  noProgress,
  type RunningExecution,
  type Spent,
  stepCountOf,
} from './execution-items.ts';
import { rowsOf } from './execution-lists.ts';
import { readExecutionHead, storeExecutionProgress } from './executions.ts';
import { LeaseLost } from './lease-writes.ts';
import { tokenWrites } from './metrics.ts';
import { tokensOfDayWrite } from './running.ts';

/** The tokens that a worker knows of, and the number of them that a write of this or an earlier worker has stored. */
type Known = Spent & { stored: number };

/**
 * Counts the tokens that a worker has paid for and no write has stored, when the worker stops. If it still holds the
 * lease, they become part of the progress. Otherwise they count at once on the UTC day of `now`, and:
 *
 * - If the execution has ended, they are added to it, to its rows and to its metrics.
 * - If another worker continues it, its end adds them.
 * - If it was deleted, the metrics of its organization have them.
 *
 * It can be repeated: the head has the ids of the leases whose late tokens are counted.
 *
 * @param execution the execution as the worker leased it
 * @param now the current time; ISO 8601
 */
export async function countLateTokens(
  context: TableContext,
  execution: RunningExecution,
  { tokens: used, estimated, stored }: Known,
  now: string,
): Promise<void> {
  const { table } = context;
  const { organization, claim } = execution;
  await retryOnConflict(table, async () => {
    const head = await readExecutionHead(context, execution);
    // The response to the worker's last write may be lost.
    const { lastStored } = head ?? {};
    const tokens = used - (lastStored?.claim === claim ? Math.max(stored, lastStored?.tokens ?? 0) : stored);
    if (tokens <= 0 || head?.late?.claims.includes(claim as string)) return;
    if (head && isRunning(head) && head.claim === claim) {
      const progress = { ...(head.progress ?? noProgress), tokens: used, ...(estimated && { estimated }) };
      // The next worker must not count an interrupted call for this one.
      await storeExecutionProgress(context, head, { ...progress, lost: head.claims }, { isFinished: false }).catch(
        asConflict,
      );
      return;
    }
    const late = lateOf(head, { tokens, ...(estimated && { estimated }) }, claim as string);
    const others = head ? await headWrites(context, head, late, tokens) : tokenWrites(execution, tokens, true);
    await transact(table, [tokensOfDayWrite(organization, tokens, now), ...others]);
  });
}

function asConflict(error: unknown): never {
  throw error instanceof LeaseLost ? new Conflict() : error;
}

/** Returns the late tokens of an execution with the late tokens of another lease. */
function lateOf(head: ExecutionHead | undefined, { tokens, estimated }: Spent, claim: string): LateTokens {
  const { late } = head ?? {};
  return {
    tokens: (late?.tokens ?? 0) + tokens,
    claims: [...(late?.claims ?? []), claim],
    ...((estimated || late?.estimated) && { estimated: true }),
  };
}

/** Returns the writes that add tokens to an execution and, if it has ended, to its rows and its metrics. */
async function headWrites(
  context: TableContext,
  head: ExecutionHead,
  late: LateTokens,
  tokens: number,
): Promise<Write[]> {
  if (isRunning(head)) return [updateHead(head, { late })];
  const { tokensUsed = 0 } = head;
  const added = { ...head, late, tokensUsed: tokensUsed + tokens, ...(late.estimated && { tokensEstimated: true }) };
  const after = { ...added, stepCount: stepCountOf(added) } as ExecutionHead;
  const { stepCount, tokensEstimated } = after;
  return [
    updateHead(head, { late, tokensUsed: after.tokensUsed, stepCount, ...(tokensEstimated && { tokensEstimated }) }),
    ...(await rowWrites(context, after)),
    ...tokenWrites(head, tokens),
  ];
}

/** Returns the update of a head, on the condition that neither its status nor its tokens have changed since it was read. */
function updateHead(
  { organization, id, status, late }: ExecutionHead,
  fields: Partial<Pick<ExecutionHead, 'late' | 'tokensUsed' | 'tokensEstimated' | 'stepCount'>>,
): Write {
  const names = Object.keys(fields);
  return {
    Update: {
      Key: keys.executionHead(organization, ulidOf(id)),
      UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
      ConditionExpression: `#status = :status AND ${late ? 'late = :known' : 'attribute_not_exists(late)'}`,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':status': status,
        ...(late && { ':known': late }),
        ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [`:${name}`, value])),
      },
    },
    onConditionFailed: () => new Conflict(),
  };
}

/** Returns the writes of the rows that an ended execution still has: the deletion of its agent removes them first. */
async function rowWrites({ table }: TableContext, execution: ExecutionHead): Promise<Write[]> {
  const rows = rowsOf(execution);
  const stored = await getEach(
    table,
    rows.map(({ pk, sk }) => ({ pk, sk }) as Key),
  );
  return rows
    .filter((_, at) => stored[at])
    .map((Item) => ({
      Put: { Item, ConditionExpression: 'attribute_exists(pk)' },
      onConditionFailed: () => new Conflict(),
    }));
}

import { randomUUID } from 'node:crypto';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItems } from '../access/reads.ts';
import { ignoreConflict, transact } from '../access/transact.ts';
import type { AgentPurge } from '../purges/purge-items.ts';
import { executionFrom, isRunning, type RunningExecution } from './execution-items.ts';
import { type RunningRow, readRunningRows } from './execution-lists.ts';
import { markWrite } from './lease-writes.ts';

/** How many executions are marked at the same time. */
const markedAtOnce = 50;

/** Returns the executions of an agent that are running now on a task, or on no task if `taskId` is `undefined`. */
export async function readRunningExecutions(
  context: TableContext,
  organization: Organization,
  agentId: string,
  taskId: string | undefined,
): Promise<RunningExecution[]> {
  const rows = await readRunningRows(context, organization, agentId);
  return readRunning(
    context,
    organization,
    rows.filter((row) => row.taskId === taskId),
  );
}

/** Returns the running executions that an execution has delegated, and the executions that these have delegated in turn. */
export async function readDelegatedExecutions(
  context: TableContext,
  organization: Organization,
  id: string,
): Promise<RunningExecution[]> {
  const running = await readRunning(context, organization, await readRunningRows(context, organization));
  return running.filter(({ delegatedIn = [] }) => delegatedIn.includes(id));
}

/**
 * Marks all running executions of an agent, after a change that takes rights from it. A worker stores no result of a marked
 * execution before it has read the agent again. An execution that starts later needs no mark: its worker reads the agent
 * after the change.
 *
 * @throws `ApiError` `unavailable`
 */
export async function markExecutions(context: TableContext, { organization, agentId }: AgentPurge): Promise<void> {
  const mark = randomUUID();
  const rows = await readRunningRows(context, organization, agentId);
  for (let at = 0; at < rows.length; at += markedAtOnce)
    await Promise.all(
      rows
        .slice(at, at + markedAtOnce)
        .map(({ id }) => transact(context.table, [markWrite({ organization, id }, mark)]).catch(ignoreConflict)),
    );
}

/** Returns the executions of rows, except executions that have ended since the rows were read. */
async function readRunning(
  { table }: TableContext,
  organization: Organization,
  rows: readonly RunningRow[],
): Promise<RunningExecution[]> {
  const heads = await getItems(
    table,
    rows.map(({ id }) => keys.executionHead(organization, ulidOf(id))),
  );
  return heads.map(executionFrom).filter(isRunning);
}

import { ulid } from 'ulid';
import { timeOf, timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import type { StoredAgent } from '../../../lib/table/agents/agent-items.ts';
import {
  type ExecutionHead,
  executionItem,
  inputItem,
  outputItems,
  type RunningExecution,
} from '../../../lib/table/executions/execution-items.ts';
import { listedWrites } from '../../../lib/table/executions/execution-lists.ts';
import { itemsAfter, writeItems } from '../tasks/seed.ts';
import { completed, failed, runningExecution } from './execution-table.ts';
import { countsOf } from './lists/execution-oracle.ts';

const yearMs = 365 * 24 * 60 * 60 * 1000;

/** Returns executions evenly spread over the year 2025 and over the agents. One in five failed; the last `running` run. */
export function executionsOfAYear(
  organization: Organization,
  agents: readonly StoredAgent[],
  { count, running }: { count: number; running: number },
): ExecutionHead[] {
  return Array.from({ length: count }, (_, nth) => {
    const started = Date.UTC(2025, 0, 1) + Math.floor((nth * yearMs) / count);
    const { id: agentId, name: agentName, model } = agents[nth % agents.length] as StoredAgent;
    const id = `ex_${ulid(started)}`;
    const startedAt = timestamp(timeOf(ulidOf(id)));
    const head = runningExecution({ organization, id, agentId, agentName, model, startedAt, claims: 1, form: 2 });
    if (nth >= count - running) return head;
    const durationMs = 1000 + ((nth * 7919) % 500_000);
    const ending = { completedAt: timestamp(started + durationMs), durationMs, tokensUsed: nth % 1000 };
    return { ...head, ...(Math.floor(nth / agents.length) % 5 === 0 ? failed(ending) : completed(ending)) };
  });
}

/** Writes the lists of executions into a table without any: all counters, and the rows that `isRead` selects. */
export function seedLists(table: Table, executions: readonly ExecutionHead[], isRead = (_id: string) => true) {
  const items = [...itemsAfter(executions.flatMap((one) => listedWrites(one))).values()];
  const read = items.filter(({ id }) => id === undefined || isRead(id as string));
  return writeItems(table, read);
}

/** Writes the items of executions, except their lists, as starts and ends write them. */
export function seedExecutions(table: Table, organization: Organization, executions: readonly ExecutionHead[]) {
  const parts = executions.flatMap((execution) => {
    const { due, dueAt, ...head } = executionItem(execution as RunningExecution, execution.startedAt);
    const { status } = execution;
    return [
      { ...head, claims: execution.claims, ...(status === 'running' && { due, dueAt }) },
      inputItem(execution, { input: 'Do it.' }),
      ...outputItems(execution, status === 'completed' ? 'Done.' : ''),
    ];
  });
  return writeItems(table, [...parts, ...countsOf(organization, executions).values()]);
}

/** Writes only what metrics are read from: the metrics of each day and, if `areRead`, the rows. */
export function seedMetrics(
  table: Table,
  organization: Organization,
  executions: readonly ExecutionHead[],
  areRead = true,
): Promise<void> {
  const lists = executions.map(({ agentId }) => keys.executionScope(organization, ulidOf(agentId)).rows);
  const read = new Set([keys.executionScope(organization).rows, ...lists]);
  const rows = [...itemsAfter((areRead ? executions : []).flatMap((one) => listedWrites(one))).values()].filter(
    ({ pk, sk }) => read.has(pk as string) && /^[rcf]#/.test(sk as string),
  );
  return writeItems(table, [...rows, ...countsOf(organization, executions).values()]);
}

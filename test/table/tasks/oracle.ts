import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { findDifferences } from '../../../lib/reconcile/differences.ts';
import type { Table } from '../../../lib/table/client.ts';
import { purgeFrom, purgeKind } from '../../../lib/table/purges/purge-items.ts';
import { type StoredTask, taskFrom } from '../../../lib/table/tasks/task-items.ts';
import type { Item } from '../../../lib/table/write.ts';
import { dumpOf } from '../../table-dump.ts';
import { tornExecutions, wrongMetrics } from '../executions/execution-oracle.ts';

/** Returns the tasks of an organization, read from their items. */
export async function tasksOf(table: Table, organization: Organization): Promise<StoredTask[]> {
  return tasksAmong(await dumpOf(table, organization));
}

/**
 * Returns what is wrong in the items of an organization: the rows, counters and dependents that reconciling would repair,
 * and what it does not repair: metrics, dependencies on missing tasks, and parts of executions.
 */
export async function faultsOf(table: Table, organization: Organization): Promise<string[]> {
  const differences = await findDifferences(table, organization, timestamp(0));
  const dump = await dumpOf(table, organization);
  return [
    ...differences.map((difference) => JSON.stringify(difference)),
    ...missingDependencies(dump),
    ...wrongMetrics(organization, dump),
    ...tornExecutions(organization, dump),
  ];
}

/** Returns a cycle of dependencies among tasks; `undefined` if there is none. */
export function ringAmong(tasks: readonly StoredTask[]): string[] | undefined {
  const dependencies = new Map(tasks.map((task) => [task.id, task.dependsOn]));
  const walked = new Set<string>();
  const walk = (id: string, path: string[]): string[] | undefined => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    if (walked.has(id)) return undefined;
    walked.add(id);
    for (const next of dependencies.get(id) ?? []) {
      const ring = walk(next, [...path, id]);
      if (ring) return ring;
    }
    return undefined;
  };
  return tasks.map(({ id }) => walk(id, [])).find((ring) => ring !== undefined);
}

function tasksAmong(dump: Record<string, unknown>): StoredTask[] {
  return (Object.values(dump) as Item[]).filter(({ kind }) => kind === 'task').map(taskFrom);
}

/** Returns the dependencies on tasks that do not exist, without those that the purge of the task will remove. */
function missingDependencies(dump: Record<string, unknown>): string[] {
  const tasks = tasksAmong(dump);
  const existing = new Set(tasks.map(({ id }) => id));
  const purged = new Map(
    (Object.values(dump) as Item[])
      .filter(({ kind }) => kind === purgeKind)
      .map((item) => ({ ...purgeFrom(item), dependents: item.dependents as Set<string> }))
      .flatMap((purge) => ('taskId' in purge ? [[purge.taskId, purge.dependents]] : [])),
  );
  return [
    ...tasks.flatMap(({ id, dependsOn }) =>
      dependsOn
        .filter((dependency) => !existing.has(dependency) && !purged.get(dependency)?.has(id))
        .map((dependency) => `${id} depends on ${dependency}, which does not exist`),
    ),
    ...[...purged.keys()].filter((id) => existing.has(id)).map((id) => `${id} has a purge and exists`),
  ];
}

import { findDifferences } from '../../../infra/cli/reconcile/differences.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { purgeFrom, purgeKind } from '../../../lib/table/purges/purge-items.ts';
import { type StoredTask, taskFrom } from '../../../lib/table/tasks/task-items.ts';
import { tornExecutions, wrongMetrics } from '../executions/lists/execution-oracle.ts';
import { dumpOf } from '../fixtures/table-dump.ts';

/** Returns the tasks of an organization, read from their items. */
export async function tasksOf(table: Table, organization: Organization): Promise<StoredTask[]> {
  return tasksAmong(await dumpOf(table, organization));
}

/**
 * Returns what is wrong in the items of an organization, also what reconciling would not repair. The stream writes the search
 * entries, so entries that are missing here are not wrong.
 */
export async function faultsOf(table: Table, organization: Organization): Promise<string[]> {
  const found = await findDifferences(table, organization, timestamp(0));
  const differences = found.filter(({ key, stored }) => stored || key.pk !== keys.searchEntries(organization));
  const dump = await dumpOf(table, organization);
  return [
    ...differences.map((difference) => JSON.stringify(difference)),
    ...missingDependencies(dump),
    ...cyclesAmong(tasksAmong(dump)),
    ...wrongMetrics(organization, dump),
    ...tornExecutions(organization, dump),
  ];
}

/** Returns the cycles of dependencies among tasks. */
function cyclesAmong(tasks: readonly StoredTask[]): string[] {
  const dependencies = new Map(tasks.map((task) => [task.id, task.dependsOn]));
  const walked = new Set<string>();
  const walk = (id: string, path: string[]): string[] => {
    if (path.includes(id)) return [`${[...path, id].join(' depends on ')}: a cycle`];
    if (walked.has(id)) return [];
    walked.add(id);
    return (dependencies.get(id) ?? []).flatMap((next) => walk(next, [...path, id]));
  };
  return tasks.flatMap(({ id }) => walk(id, []));
}

function tasksAmong(dump: Record<string, unknown>): StoredTask[] {
  return (Object.values(dump) as Item[]).filter(({ kind }) => kind === 'task').map(taskFrom);
}

/** Returns the dependencies on tasks that do not exist, without dependencies that the purge of the task will remove. */
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

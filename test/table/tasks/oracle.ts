import { isDeepStrictEqual } from 'node:util';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type Key, keys } from '../../../lib/table/keys.ts';
import { purgeFrom, purgeKind } from '../../../lib/table/purges/purge-items.ts';
import { type StoredTask, taskFrom, taskMembership } from '../../../lib/table/tasks/task-items.ts';
import type { Item } from '../../../lib/table/write.ts';
import { dumpOf } from '../../table-dump.ts';
import {
  countsOf,
  executionsAmong,
  expectedMembership,
  tornDelegations,
  tornExecutions,
} from '../executions/execution-oracle.ts';
import { derivedFrom, nameOf } from './seed.ts';

/** Returns the tasks of an organization, read from their items. */
export async function tasksOf(table: Table, organization: Organization): Promise<StoredTask[]> {
  return tasksAmong(await dumpOf(table, organization));
}

/**
 * Returns the rows, counters and dependents of a board that are wrong, surplus or missing, derived from the items of
 * its tasks and executions. Counters of 0 are allowed.
 */
export async function faultsOf(table: Table, organization: Organization): Promise<string[]> {
  const dump = await dumpOf(table, organization);
  const tasks = tasksAmong(dump);
  const executions = executionsAmong(dump);
  const implied = sumShards([
    ...derivedFrom([
      ...tasks.map((task) => taskMembership(organization, task)),
      ...executions.map(expectedMembership(dump)),
    ]),
    ...countsOf(organization, executions),
  ]);
  const isCounter = countersOf(organization);
  const checked = Object.entries(dump as Record<string, Item>).filter(([, item]) => !isAside(organization, item));
  const found = new Map(
    [...sumShards(checked)]
      .map(([name, item]): [string, Item] => [name, isCounter(item) ? withoutZeros(item) : item])
      .filter(([, item]) => !isCounter(item) || Object.keys(item).length > 2),
  );
  const shown = (item: Item | undefined) => (item ? JSON.stringify(item) : 'nothing');
  const names = new Set([...found.keys(), ...implied.keys()]);
  return [
    ...[...names]
      .filter((name) => !isDeepStrictEqual(found.get(name), implied.get(name)))
      .map((name) => `${name} is ${shown(found.get(name))}, not ${shown(implied.get(name))}`),
    ...wrongDependents(tasks, purgedTasks(dump)),
    ...tornExecutions(organization, dump),
    ...tornDelegations(organization, dump),
  ];
}

/** Returns the items with one counter for each period: the sum of its shards. */
function sumShards(items: readonly [name: string, item: Item][]): Map<string, Item> {
  const summed = new Map<string, Item>();
  for (const [name, item] of items) {
    const period = keys.counterPeriod(item as Key);
    if (!period) {
      summed.set(name, item);
      continue;
    }
    const { pk: _, sk: __, ...numbers } = item as Record<string, number>;
    const sums = (summed.get(nameOf(period)) ?? period) as Record<string, number>;
    const added = Object.entries(numbers).map(([facet, number]) => [facet, (sums[facet] ?? 0) + number]);
    summed.set(nameOf(period), { ...sums, ...Object.fromEntries(added) });
  }
  return summed;
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
  for (const { id } of tasks) {
    const ring = walk(id, []);
    if (ring) return ring;
  }
  return undefined;
}

function tasksAmong(dump: Record<string, unknown>): StoredTask[] {
  return (Object.values(dump) as Item[]).filter(({ kind }) => kind === 'task').map(taskFrom);
}

/** Returns whether an item is not a task, an execution, or an item derived from them. */
function isAside(organization: Organization, { pk, kind, fingerprint }: Item): boolean {
  const partitions: unknown[] = [
    ...[keys.graphLock(organization).pk, keys.tokens(organization), keys.delegation(organization, '').pk],
  ];
  const prefixes = [keys.agentTexts(organization, ''), keys.execution(organization, '')];
  const isPart = prefixes.some((prefix) => (pk as string).startsWith(prefix));
  return kind !== undefined || fingerprint !== undefined || isPart || partitions.includes(pk);
}

function countersOf(organization: Organization): (item: Item) => boolean {
  const { counters } = keys.taskScope(organization, {});
  const start = counters.slice(0, counters.lastIndexOf('#') + 1);
  const starts = [start, keys.running(organization).pk, keys.metrics(organization, '')];
  return ({ pk }) => starts.some((one) => (pk as string).startsWith(one));
}

const withoutZeros = (item: Item): Item => Object.fromEntries(Object.entries(item).filter(([, value]) => value !== 0));

/** Returns the dependents of deleted tasks, by task id, until their purges are done. */
function purgedTasks(dump: Record<string, unknown>): Map<string, Set<string>> {
  const purges = (Object.values(dump) as Item[]).filter(({ kind }) => kind === purgeKind);
  return new Map(
    purges.flatMap((item): [string, Set<string>][] => {
      const purge = purgeFrom(item);
      return 'taskId' in purge ? [[purge.taskId, item.dependents as Set<string>]] : [];
    }),
  );
}

function wrongDependents(tasks: readonly StoredTask[], purged: ReadonlyMap<string, Set<string>>): string[] {
  const dependents = new Map<string, string[]>();
  for (const { id, dependsOn } of tasks)
    for (const dependency of dependsOn) dependents.set(dependency, [...(dependents.get(dependency) ?? []), id]);
  const known = new Map(tasks.map((task) => [task.id, task]));
  return [
    ...[...dependents]
      .filter(([id, by]) => !known.has(id) && !by.every((dependent) => purged.get(id)?.has(dependent)))
      .map(([id]) => `${id} is depended on and is not there`),
    ...[...purged.keys()].filter((id) => known.has(id)).map((id) => `${id} is being purged and is there`),
    ...tasks
      .filter((task) => !isDeepStrictEqual(task.dependents, (dependents.get(task.id) ?? []).sort()))
      .map((task) => `${task.id} has the dependents ${task.dependents}, not ${dependents.get(task.id)}`),
  ];
}

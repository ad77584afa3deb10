import { ApiError } from '../contract/errors.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { keys } from './keys.ts';
import type { StoredTask } from './task-items.ts';
import { Conflict } from './transact.ts';
import type { Write } from './write.ts';

/** The organization's graph lock as it was read; `undefined` before its first edge was added by a change. */
export type GraphLock = number | undefined;

/** At most this many tasks depend on one: its set of dependents stays small beside its text. */
const dependentsLimit = 500;

/** What a failed condition on a version means. */
export const stale = () => new Conflict();

/** The names and values of the condition that a task is still the version that was read. */
export const asRead = (task: StoredTask) => ({
  names: { '#version': 'version' },
  values: { ':version': task.version },
});

/**
 * One update that is existence check, edge and delete guard at once. It touches neither version nor updatedAt: a
 * task does not change by being depended on.
 */
export function addEdge(organization: Organization, id: string, dependent: string, at: number): Write {
  const path = `dependsOn.${at}`;
  return {
    Update: {
      Key: keys.task(organization, ulidOf(id)),
      UpdateExpression: 'ADD dependents :dependent',
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(dependents) OR size(dependents) < :limit)',
      ExpressionAttributeValues: { ':dependent': new Set([dependent]), ':limit': dependentsLimit },
    },
    onConditionFailed: (found) =>
      found
        ? new ApiError('limit_reached', `At most ${dependentsLimit} tasks can depend on one.`, [
            { path, code: 'limit', message: `${id} has ${dependentsLimit} dependents.` },
          ])
        : unknownTask(id, path),
  };
}

/** The refusal of a dependency that does not exist. */
export function unknownTask(id: string, path: string): ApiError {
  return new ApiError('unknown_reference', 'The request names something that does not exist.', [
    { path, code: 'not_found', message: `There is no task ${id}.` },
  ]);
}

/** The other direction: a task that does not depend any more, or is no more. */
export function removeEdge(organization: Organization, id: string, dependent: string): Write {
  return {
    Update: {
      Key: keys.task(organization, ulidOf(id)),
      UpdateExpression: 'DELETE dependents :dependent',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':dependent': new Set([dependent]) },
    },
    onConditionFailed: stale,
  };
}

/** Passes the graph lock on; fails as `Conflict` where another change took it since it was read. */
export function takeLock(organization: Organization, read: GraphLock): Write {
  return {
    Update: {
      Key: keys.graphLock(organization),
      UpdateExpression: 'SET v = :next',
      ConditionExpression: read === undefined ? 'attribute_not_exists(v)' : 'v = :read',
      ExpressionAttributeValues: { ':next': (read ?? 0) + 1, ...(read !== undefined && { ':read': read }) },
    },
    onConditionFailed: stale,
  };
}

/**
 * So many dependents are detached in one transaction: with a deletion's own edges and rows it has under 100 items, and
 * with the longest texts under 4 MB.
 */
export const detachLimit = 35;

/** Takes a task that is deleted out of the `dependsOn` of a dependent, which must still be what was read. */
export function detach(organization: Organization, dependent: StoredTask, id: string, updatedAt: string): Write {
  const { names, values } = asRead(dependent);
  return {
    Update: {
      Key: keys.task(organization, ulidOf(dependent.id)),
      UpdateExpression: 'SET dependsOn = :dependsOn, updatedAt = :updatedAt, #version = :next',
      ConditionExpression: '#version = :version',
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: {
        ...values,
        ':dependsOn': dependent.dependsOn.filter((other) => other !== id),
        ':updatedAt': updatedAt,
        ':next': dependent.version + 1,
      },
    },
    onConditionFailed: stale,
  };
}

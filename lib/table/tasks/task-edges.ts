import { ApiError } from '../../contract/errors.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { authorship, noAuthorship } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import { updateOf } from '../access/patch.ts';
import { Conflict } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import type { StoredTask } from './task-items.ts';

/** The graph lock of an organization; `undefined` until a change of a task adds a first edge. */
export type GraphLock = number | undefined;

/** The maximum number of dependents of a task. They are a set in its item, which must stay small. */
const dependentsLimit = 500;

/** Returns the error of a failed condition on a version. */
export const conflict = () => new Conflict();

/**
 * Returns the condition that a task has not changed since it was read: `held` changes without the version, because callers do not see
 * it.
 */
export const unchangedTask = (task: StoredTask) => ({
  condition: `#version = :version AND ${task.held ? 'attribute_exists' : 'attribute_not_exists'}(held)`,
  names: { '#version': 'version' },
  values: { ':version': task.version },
});

/** Returns the condition that a dependency is done, or is not, as it was read. */
const asDoneAs = ({ status }: Pick<StoredTask, 'status'>) => ({
  condition: `#status ${status === 'done' ? '=' : '<>'} :done`,
  names: { '#status': 'status' },
  values: { ':done': 'done' },
});

/**
 * Returns the checks that dependencies of a task are as done as they were read. So whoever changes one of them later finds
 * the task as this transaction leaves it.
 */
export function checkDependencies(organization: Organization, dependencies: readonly StoredTask[]): Write[] {
  return dependencies.map((dependency) => {
    const { condition, names, values } = asDoneAs(dependency);
    return {
      ConditionCheck: {
        Key: keys.task(organization, ulidOf(dependency.id)),
        ConditionExpression: condition,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
      },
      onConditionFailed: conflict,
    };
  });
}

/**
 * Returns the write that adds a dependent to a task. Its condition checks that the task exists, and a deletion of the
 * task conflicts with it. It does not change version and `updatedAt` of the task.
 *
 * @param at the index in the `dependsOn` of the dependent, for the path of an error
 * @param read the task as it was read, which must still be as done
 */
export function addEdge(
  organization: Organization,
  id: string,
  dependent: string,
  at: number,
  read: StoredTask | undefined,
): Write {
  const path = `dependsOn.${at}`;
  const room = 'attribute_exists(pk) AND (attribute_not_exists(dependents) OR size(dependents) < :limit)';
  const asDone = read && asDoneAs(read);
  const isFull = (found: Item) => ((found.dependents as Set<string> | undefined)?.size ?? 0) >= dependentsLimit;
  return {
    Update: {
      Key: keys.task(organization, ulidOf(id)),
      UpdateExpression: 'ADD dependents :dependent',
      ConditionExpression: asDone ? `${room} AND ${asDone.condition}` : room,
      ...(asDone && { ExpressionAttributeNames: asDone.names }),
      ExpressionAttributeValues: {
        ...{ ':dependent': new Set([dependent]), ':limit': dependentsLimit },
        ...asDone?.values,
      },
    },
    onConditionFailed: (found) => {
      if (!found) return unknownTask(id, path);
      if (!isFull(found)) return conflict();
      return new ApiError(
        'limit_reached',
        `A task has at most ${dependentsLimit} dependents; remove one of them first.`,
        [{ path, code: 'limit', message: `${id} has ${dependentsLimit} dependents.` }],
      );
    },
  };
}

/** Returns the error for a dependency that does not exist. */
export function unknownTask(id: string, path: string): ApiError {
  return new ApiError('unknown_reference', 'The request names a task or an agent that does not exist; see details.', [
    { path, code: 'not_found', message: `There is no task ${id}.` },
  ]);
}

/** Returns the write that removes a dependent from a task. */
export function removeEdge(organization: Organization, id: string, dependent: string): Write {
  return {
    Update: {
      Key: keys.task(organization, ulidOf(id)),
      UpdateExpression: 'DELETE dependents :dependent',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':dependent': new Set([dependent]) },
    },
    onConditionFailed: conflict,
  };
}

/** Returns the write that changes the graph lock. It throws `Conflict` if the lock has changed since it was read. */
export function takeLock(organization: Organization, read: GraphLock): Write {
  return {
    Update: {
      Key: keys.graphLock(organization),
      UpdateExpression: 'SET v = :next',
      ConditionExpression: read === undefined ? 'attribute_not_exists(v)' : 'v = :read',
      ExpressionAttributeValues: { ':next': (read ?? 0) + 1, ...(read !== undefined && { ':read': read }) },
    },
    onConditionFailed: conflict,
  };
}

/**
 * The maximum number of dependents that the transaction of a deletion changes. With the task's own edges and rows it
 * has less than 100 items, and less than 4 MB with the longest texts.
 */
export const detachLimit = 35;

/** Returns the write that removes a deleted task from the `dependsOn` of a dependent that has not changed. */
export function detach(organization: Organization, dependent: StoredTask, id: string, updatedAt: string): Write {
  const { condition, names, values } = unchangedTask(dependent);
  const update = updateOf({
    dependsOn: dependent.dependsOn.filter((other) => other !== id),
    updatedAt,
    version: dependent.version + 1,
    ...noAuthorship,
    ...authorship(),
  });
  return {
    Update: {
      Key: keys.task(organization, ulidOf(dependent.id)),
      ...update,
      ConditionExpression: condition,
      ExpressionAttributeNames: { ...names, ...update.ExpressionAttributeNames },
      ExpressionAttributeValues: { ...values, ...update.ExpressionAttributeValues },
    },
    onConditionFailed: conflict,
  };
}

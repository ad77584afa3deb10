import type { Page } from '../../contract/endpoint.ts';
import { ApiError, notFound } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { type Comment, commentsLimit } from '../../contract/tasks/comments.ts';
import type { TableContext } from '../access/client.ts';
import { requestFields } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import { getItem, getItems, readRange } from '../access/reads.ts';
import { Conflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import type { RecordResponse } from '../idempotency.ts';
import type { StoredTask } from './task-items.ts';

/**
 * The comments of a task are a partition of their own, with their number: a comment changes neither the task nor its version, and a
 * page needs no comment but its own for the exact total.
 */

/** The kind of comments in the stream. */
export const commentKind = 'comment';

/** A comment, and its task as it was when the comment was written, for the event. */
export type StoredComment = Comment & {
  taskId: string;
  task: Pick<StoredTask, 'title' | 'status' | 'version'> & Partial<Pick<StoredTask, 'assignedAgent' | 'projectId'>>;
  requestId?: string;
};

/** Returns the comment of an item. Its time of creation is the time of its id. */
export function commentFrom({ pk, sk, kind, ...rest }: Item): StoredComment {
  const taskUlid = (pk as string).slice(-26);
  const createdAt = timestamp(timeOf(sk as string));
  return { updatedAt: createdAt, ...rest, id: `cm_${sk}`, taskId: `tk_${taskUlid}`, createdAt } as StoredComment;
}

/**
 * Returns the writes that add a comment to a task, and count it.
 *
 * @param task the task as it is after the transaction
 */
export function commentWrites(
  organization: Organization,
  task: StoredTask,
  { id, text, author, review }: Comment,
): Write[] {
  const { title, status, version, assignedAgent, projectId } = task;
  const taskUlid = ulidOf(task.id);
  const Item = {
    ...keys.comment(organization, taskUlid, ulidOf(id)),
    kind: commentKind,
    ...{ text, author },
    ...(review && { review }),
    task: {
      ...{ title, status, version },
      ...(assignedAgent !== undefined && { assignedAgent }),
      ...(projectId !== undefined && { projectId }),
    },
    ...requestFields(),
  };
  return [
    { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, onConditionFailed: () => new Conflict() },
    {
      Update: {
        Key: keys.commentCount(organization, taskUlid),
        UpdateExpression: 'ADD #count :one',
        ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
        ExpressionAttributeNames: { '#count': 'count' },
        ExpressionAttributeValues: { ':one': 1, ':limit': commentsLimit },
      },
      onConditionFailed: () =>
        new ApiError('limit_reached', `A task has at most ${commentsLimit} comments; delete one of them first.`),
    },
  ];
}

/**
 * Adds a comment to a task, with the idempotency record.
 *
 * @throws `ApiError` `not_found` if the task does not exist any more, `limit_reached`
 */
export async function insertComment(
  { table }: TableContext,
  organization: Organization,
  task: StoredTask,
  comment: Comment,
  recordResponse: RecordResponse,
): Promise<void> {
  await transact(table, [
    taskExists(organization, task.id),
    ...commentWrites(organization, task, comment),
    ...(recordResponse?.(comment) ?? []),
  ]);
}

/** Returns a page of the comments of a task, the oldest first, and their exact number. */
export async function readCommentPage(
  { table }: TableContext,
  organization: Organization,
  taskId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<StoredComment>> {
  const range = keys.comments(organization, ulidOf(taskId));
  const [counted, items] = await Promise.all([
    getItem(table, keys.commentCount(organization, ulidOf(taskId))),
    offset < commentsLimit ? readRange(table, { ...range, ascending: true, limit: offset + limit }) : [],
  ]);
  return { items: items.slice(offset).map(commentFrom), total: (counted?.count as number | undefined) ?? 0 };
}

/** Returns whether a task has comments, also a deleted one. */
export async function hasComments(
  { table }: TableContext,
  organization: Organization,
  taskId: string,
): Promise<boolean> {
  return (await getItem(table, keys.commentCount(organization, ulidOf(taskId)))) !== undefined;
}

/** Returns the comments of a task that exist, in the order of the ids. */
export async function readComments(
  { table }: TableContext,
  organization: Organization,
  taskId: string,
  ids: readonly string[],
): Promise<StoredComment[]> {
  const wanted = ids.map((id) => keys.comment(organization, ulidOf(taskId), ulidOf(id)));
  return (await getItems(table, wanted)).map(commentFrom);
}

/**
 * Changes the text of a comment.
 *
 * @param updatedAt ISO 8601
 * @throws `ApiError` `not_found` if the comment or its task does not exist any more
 */
export async function changeComment(
  { table }: TableContext,
  organization: Organization,
  { id, taskId }: StoredComment,
  text: string,
  updatedAt: string,
): Promise<void> {
  await transact(table, [
    taskExists(organization, taskId),
    {
      Update: {
        Key: keys.comment(organization, ulidOf(taskId), ulidOf(id)),
        UpdateExpression: 'SET #text = :text, updatedAt = :updatedAt',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: { '#text': 'text' },
        ExpressionAttributeValues: { ':text': text, ':updatedAt': updatedAt },
      },
      onConditionFailed: () => notFound('comment'),
    },
  ]);
}

/**
 * Deletes a comment.
 *
 * @throws `ApiError` `not_found` if the comment or its task does not exist any more
 */
export async function removeComment(
  { table }: TableContext,
  organization: Organization,
  { id, taskId }: StoredComment,
): Promise<void> {
  await transact(table, [
    taskExists(organization, taskId),
    {
      Delete: {
        Key: keys.comment(organization, ulidOf(taskId), ulidOf(id)),
        ConditionExpression: 'attribute_exists(pk)',
      },
      onConditionFailed: () => notFound('comment'),
    },
    {
      Update: {
        Key: keys.commentCount(organization, ulidOf(taskId)),
        UpdateExpression: 'ADD #count :minusOne',
        ExpressionAttributeNames: { '#count': 'count' },
        ExpressionAttributeValues: { ':minusOne': -1 },
      },
    },
  ]);
}

/** Returns the check that a task exists: after its deletion, no comment of it is written. */
function taskExists(organization: Organization, taskId: string): Write {
  return {
    ConditionCheck: { Key: keys.task(organization, ulidOf(taskId)), ConditionExpression: 'attribute_exists(pk)' },
    onConditionFailed: () => notFound('task'),
  };
}

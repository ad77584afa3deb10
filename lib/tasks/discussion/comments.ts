import type { Context } from '../../context/context.ts';
import type { Page } from '../../contract/endpoint.ts';
import { ApiError, notFound } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { Comment } from '../../contract/tasks/comments.ts';
import type { ReviewDecision } from '../../contract/tasks/task-reviews.ts';
import { shortened } from '../../contract/texts/code-points.ts';
import type { TableContext } from '../../table/access/client.ts';
import { currentActor } from '../../table/access/current-request.ts';
import { retryOnConflict } from '../../table/access/transact.ts';
import type { RecordResponse } from '../../table/idempotency.ts';
import {
  changeComment,
  insertComment,
  readCommentPage,
  readComments,
  removeComment,
  type StoredComment,
} from '../../table/tasks/comments.ts';
import { requireTask } from '../tasks.ts';

/**
 * Returns a page of the comments of a task, the oldest first, and their exact number.
 *
 * @throws `ApiError` `not_found`
 */
export async function listComments(
  context: TableContext,
  organization: Organization,
  taskId: string,
  page: { limit: number; offset: number },
): Promise<Page<Comment>> {
  const [, found] = await Promise.all([
    requireTask(context, organization, taskId),
    readCommentPage(context, organization, taskId, page),
  ]);
  return found;
}

/** The longest note of an entry in a history that follows from a comment, in code points. */
const noteLength = 280;

/** Returns the start of a comment, for a history. */
export const noteOf = (text: string): string => shortened(text, noteLength);

/** Returns a new comment of the current actor. */
export function newComment({ ulid }: Pick<Context, 'ulid'>, text: string, review?: ReviewDecision): Comment {
  const id = `cm_${ulid()}`;
  const createdAt = timestamp(timeOf(ulidOf(id)));
  const { executionId, ...author } = currentActor();
  return { id, text, author, ...(review && { review }), createdAt, updatedAt: createdAt };
}

/**
 * Adds a comment of the current actor to a task.
 *
 * @throws `ApiError` `not_found`, `limit_reached`
 */
export function commentOnTask(
  context: TableContext & Pick<Context, 'ulid'>,
  organization: Organization,
  taskId: string,
  text: string,
  recordResponse: RecordResponse,
): Promise<Comment> {
  return retryOnConflict(context.table, async () => {
    const task = await requireTask(context, organization, taskId);
    const comment = newComment(context, text);
    await insertComment(context, organization, task, comment, recordResponse);
    return comment;
  });
}

/**
 * Changes the text of a comment of the current actor.
 *
 * @throws `ApiError` `not_found`, `not_author`
 */
export async function updateComment(
  context: TableContext & Pick<Context, 'clock'>,
  organization: Organization,
  { taskId, commentId }: { taskId: string; commentId: string },
  text: string,
): Promise<Comment> {
  const comment = await requireOwnComment(context, organization, taskId, commentId);
  if (comment.text === text) return comment;
  const updatedAt = timestamp(context.clock());
  await changeComment(context, organization, comment, text, updatedAt);
  return { ...comment, text, updatedAt };
}

/**
 * Deletes a comment of the current actor.
 *
 * @throws `ApiError` `not_found`, `not_author`
 */
export async function deleteComment(
  context: TableContext,
  organization: Organization,
  { taskId, commentId }: { taskId: string; commentId: string },
): Promise<void> {
  await removeComment(context, organization, await requireOwnComment(context, organization, taskId, commentId));
}

/** Returns a comment that the current actor has written. Names do not count: two tokens can have the same. */
async function requireOwnComment(
  context: TableContext,
  organization: Organization,
  taskId: string,
  commentId: string,
): Promise<StoredComment> {
  const [, [comment]] = await Promise.all([
    requireTask(context, organization, taskId),
    readComments(context, organization, taskId, [commentId]),
  ]);
  if (!comment) throw notFound('comment');
  const { kind, id } = currentActor();
  if (id === undefined || comment.author.kind !== kind || comment.author.id !== id)
    throw new ApiError(
      'not_author',
      `Only its author can change or delete a comment: ${comment.author.name}. Send the access token that it was written with, or write another comment.`,
    );
  return comment;
}

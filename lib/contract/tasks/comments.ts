import * as v from 'valibot';
import { Actor } from '../actors.ts';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { described, id, pageQuery, Timestamp } from '../shapes.ts';
import { CommentText, ReviewDecision } from './task-reviews.ts';
import { TaskId } from './tasks.ts';

/** The comments of tasks: what people and agents say about the work. */

export const CommentId = id('cm', 'a comment');

/** The largest number of comments of a task. */
export const commentsLimit = 1_000;

/** The body of `commentOnTask` and `updateComment`. */
export const NewComment = v.object({ text: CommentText });

/** A comment on a task. */
export const Comment = v.object({
  id: CommentId,
  text: described(v.string(), 'Markdown.'),
  author: described(v.pick(Actor, ['kind', 'name', 'id']), 'Who has written it.'),
  review: v.optional(described(ReviewDecision, 'The decision, if it is the comment of a review.')),
  createdAt: Timestamp,
  updatedAt: described(Timestamp, 'Time of the last change of the text.'),
});
export type Comment = v.InferOutput<typeof Comment>;

const exampleComment = {
  id: examples.commentId,
  text: 'The page is wider than a phone.',
  author: { kind: 'token', name: 'console', id: examples.tokenId },
  createdAt: examples.started,
  updatedAt: examples.started,
} as const;

export const listComments = endpoint({
  method: 'GET',
  path: '/api/kanban-tasks/:id/comments',
  scope: 'tasks:read',
  summary: 'List the comments of a task',
  params: { id: TaskId },
  query: v.object(pageQuery),
  status: 200,
  data: Comment,
  paged: true,
  servedBy: 'listTasks',
});

export const listCommentsReference = (): ApiReference<typeof listComments> => ({
  description: 'Returns the comments of the task, the oldest first. `pagination.total` is exact.',
  data: [exampleComment],
});

export const commentOnTask = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks/:id/comments',
  scope: 'tasks:write',
  summary: 'Comment on a task',
  params: { id: TaskId },
  body: NewComment,
  status: 201,
  resource: Comment,
  data: Comment,
  errors: ['limit_reached'],
  servedBy: 'updateTask',
});

export const commentOnTaskReference = (): ApiReference<typeof commentOnTask> => ({
  description: `Adds a comment, in the name of the access token. It changes no field of the task, neither its version nor \`updatedAt\`. A task has at most 1,000 comments. Publishes \`task.commented\`.`,
  body: { text: exampleComment.text },
  data: exampleComment,
});

export const updateComment = endpoint({
  method: 'PATCH',
  path: '/api/kanban-tasks/:id/comments/:commentId',
  scope: 'tasks:write',
  summary: 'Change a comment',
  forPeople: true,
  params: { id: TaskId, commentId: CommentId },
  body: NewComment,
  status: 200,
  data: Comment,
  errors: ['not_author'],
  servedBy: 'updateTask',
});

export const updateCommentReference = (): ApiReference<typeof updateComment> => ({
  description:
    'Changes the text of a comment. Only its author can: the access token that it was written with. Publishes no event.',
  params: { commentId: examples.commentId },
  body: { text: exampleComment.text },
  data: exampleComment,
});

export const deleteComment = endpoint({
  method: 'DELETE',
  path: '/api/kanban-tasks/:id/comments/:commentId',
  scope: 'tasks:write',
  summary: 'Delete a comment',
  forPeople: true,
  params: { id: TaskId, commentId: CommentId },
  status: 200,
  errors: ['not_author'],
  servedBy: 'updateTask',
});

export const deleteCommentReference = (): ApiReference<typeof deleteComment> => ({
  description:
    'Permanently deletes a comment. Only its author can: the access token that it was written with. The history of the task keeps the start of the text. Publishes no event.',
  params: { commentId: examples.commentId },
});

import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { described, oneOf, text } from '../shapes.ts';
import { exampleTask, Task, TaskId } from './tasks.ts';

/** The decisions of a review. */
export const ReviewDecision = oneOf(['accept', 'send_back']);
export type ReviewDecision = v.InferOutput<typeof ReviewDecision>;

/** The text of a comment in a request. */
export const CommentText = described(text(1, 10_000), 'Markdown.');

/** The body of `reviewTask`. */
export const Review = v.pipe(
  v.object({
    decision: described(ReviewDecision, '`accept` moves the task to `done`, `send_back` to its agent.'),
    comment: v.optional(described(CommentText, 'Why, in Markdown; `send_back` needs it.')),
  }),
  v.forward(
    v.check(
      ({ decision, comment }) => decision !== 'send_back' || comment !== undefined,
      'is required to send a task back: say what is missing',
    ),
    ['comment'],
  ),
);
export type Review = v.InferOutput<typeof Review>;

export const reviewTask = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks/:id/review',
  scope: 'tasks:write',
  summary: 'Review a task',
  params: { id: TaskId },
  body: Review,
  status: 200,
  data: Task,
  errors: ['task_claimed', 'execution_running', 'task_not_in_review', 'limit_reached'],
  servedBy: 'updateTask',
});

export const reviewTaskReference = (): ApiReference<typeof reviewTask> => ({
  description: `Accepts the work on a task in \`qa_review\` or \`up_for_review\`, or sends it back. \`accept\` moves it to \`done\`; \`send_back\` to \`assigned\`, or to \`backlog\` if it has no agent, and an agent with \`autoRun\` begins again.

The comment becomes a comment of the task, with \`review\`. Further executions on the task, and workers that claim it, get the comments of its reviews, so that they know what is missing. A task that a worker has claimed, or that an execution works on, cannot be reviewed.

Publishes \`task.status_changed\`, \`task.completed\` if the task is accepted, and \`task.commented\` for the comment.`,
  body: { decision: 'accept' },
  furtherBodies: { 'What is missing': { decision: 'send_back', comment: 'The page is wider than a phone.' } },
  data: { ...exampleTask, id: examples.taskId, status: 'done' },
});

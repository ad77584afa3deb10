import { Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../../lib/client/client.ts';
import type { Actor, Comment } from '../../../../lib/client/operations.ts';
import { CommentId } from '../../../../lib/contract/tasks/comments.ts';
import { TaskId } from '../../../../lib/contract/tasks/tasks.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { allOption, apiCommand, limitOption } from '../api-command.ts';
import { confirmDeletion, printDeleted, yesOption } from '../confirmation.ts';
import { connect } from '../connection.ts';
import { givenText } from '../given-values.ts';
import { printTexts, requestPage } from '../pages.ts';
import { exampleTaskId, printStatus } from './task-status.ts';

/** `crewboard tasks review`: accepts the work on a task, or sends it back. */
export const review = apiCommand(
  'review',
  'Accept the work on a task, or send it back with a comment',
  `tasks review ${exampleTaskId} --accept`,
  `tasks review ${exampleTaskId} --send-back --comment "The page is wider than a phone."`,
)
  .description(
    'Accept the work on a task in qa_review or up_for_review, or send it back to its agent. Further work on the task gets the comment.',
  )
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .addOption(new Option('--accept', 'the task is done').conflicts('sendBack'))
  .option('--send-back', 'the task is open again; needs a comment')
  .option('--comment <text>', 'why, in Markdown; - reads it from standard input')
  .action(async (id, { accept, sendBack, comment: given, ...options }, command) => {
    if (!accept && !sendBack) command.error('error: Name the decision: --accept or --send-back.');
    if (sendBack && given === undefined)
      command.error('error: --send-back needs a --comment that says what is missing.');
    const client = connect(options, command);
    const body = {
      decision: accept ? ('accept' as const) : ('send_back' as const),
      comment: await givenText(given),
    };
    const { data: task } = await client.reviewTask({ params: { id }, body });
    printStatus(task, options);
  });

/** `crewboard tasks comment`: adds a comment to a task. */
export const comment = apiCommand(
  'comment',
  'Comment on a task and print the id of the comment',
  `tasks comment ${exampleTaskId} "Which logo is it?"`,
  `tasks comment ${exampleTaskId} "The result is in the branch landing-page." --json`,
)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .argument('<text>', 'the comment in Markdown; - reads it from standard input')
  .action(async (id, given, options, command) => {
    const client = connect(options, command);
    const { data } = await client.commentOnTask({ params: { id }, body: { text: await givenText(given) } });
    if (options.json) return printJson({ data });
    console.log(data.id);
  });

const readCommentId = readBy(CommentId);

/** `crewboard tasks edit-comment`: changes a comment. */
export const editComment = apiCommand(
  'edit-comment',
  'Change the text of your comment on a task',
  `tasks edit-comment ${exampleTaskId} cm_01K00000000000000000000000 "Which logo is it, and where?"`,
)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .argument('<comment>', 'the id of the comment, as tasks comments lists it', readCommentId)
  .argument('<text>', 'the new text in Markdown; - reads it from standard input')
  .action(async (id, commentId, given, options, command) => {
    const client = connect(options, command);
    const { data } = await client.updateComment({ params: { id, commentId }, body: { text: await givenText(given) } });
    if (options.json) return printJson({ data });
    console.log(`Changed the comment ${commentId}.`);
  });

/** `crewboard tasks delete-comment`: deletes a comment. */
export const deleteCommentCommand = apiCommand(
  'delete-comment',
  'Delete your comment on a task',
  `tasks delete-comment ${exampleTaskId} cm_01K00000000000000000000000 --yes`,
)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .argument('<comment>', 'the id of the comment, as tasks comments lists it', readCommentId)
  .addOption(yesOption())
  .action(async (id, commentId, { yes, ...options }, command) => {
    await confirmDeletion({ yes }, command, async () => `the comment ${commentId}`);
    await connect(options, command).deleteComment({ params: { id, commentId } });
    printDeleted(`the comment ${commentId}`, { id: commentId }, options);
  });

/** `crewboard tasks comments`: lists the comments of a task. */
export const comments = apiCommand(
  'comments',
  'List the comments of a task, oldest first',
  `tasks comments ${exampleTaskId}`,
  `tasks comments ${exampleTaskId} --all --json`,
)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (id, options, command) => {
    const client = connect(options, command);
    const page = await requestPage(
      options,
      (limit) => client.listComments({ params: { id }, query: { limit } }),
      () => everyItem(client.listComments, { params: { id } }),
    );
    printTexts(page, 'comment', headingOf, options);
  });

/** Returns when and by whom a comment was written, what a reviewer has decided, and whether it was changed. */
function headingOf({ id, author, review: decision, createdAt, updatedAt }: Comment): string[] {
  return [
    ...[createdAt, actorText(author)],
    ...(decision ? [decision === 'accept' ? 'accepted' : 'sent back'] : []),
    ...(updatedAt === createdAt ? [] : ['edited']),
    id,
  ];
}

/** Returns who has done something. Of an agent it says so: an access token can have the same name. */
export function actorText({ kind, name }: Pick<Actor, 'kind' | 'name'>): string {
  return kind === 'agent' ? `${name} (agent)` : name;
}

import type { Organization } from '../contract/organization.ts';
import type { Comment } from '../contract/tasks/comments.ts';
import type { TableContext } from '../table/access/client.ts';
import { readComments } from '../table/tasks/comments.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { startInBytes } from '../table/text-parts.ts';

/** The longest texts of reviews that an execution or a worker gets, in UTF-8 bytes in all. */
const reviewBytes = 8 * 1024;

/** The mark at the end of a text that does not fit. */
const cutMark = '\n\n[The comment is cut here: comments of reviews have at most 8 KiB in all.]';

/** Returns the comments of the latest reviews of a task, the newest first. The last of them is cut if they are too long. */
export async function readReviewComments(
  context: TableContext,
  organization: Organization,
  { id, reviews = [] }: StoredTask,
): Promise<Comment[]> {
  if (reviews.length === 0) return [];
  const comments: Comment[] = [];
  let remaining = reviewBytes;
  for (const comment of await readComments(context, organization, id, reviews)) {
    const text = startInBytes(comment.text, remaining);
    const isCut = text !== comment.text;
    comments.push(isCut ? { ...comment, text: `${text}${cutMark}` } : comment);
    if (isCut) break;
    remaining -= Buffer.byteLength(text);
  }
  return comments;
}

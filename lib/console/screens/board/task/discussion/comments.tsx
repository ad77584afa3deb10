import { useInfiniteQuery } from '@tanstack/react-query';
import type { Client } from '../../../../../client/client.ts';
import { Failure } from '../../../../components/failure.tsx';
import { unique } from '../../../../components/format/unique.ts';
import { oneTask } from '../../../../components/hooks/one-task.ts';
import { Skeleton } from '../../../../components/page.tsx';
import { useClient, useScope } from '../../../../session.ts';
import { Comment } from './comment.tsx';
import { NewComment } from './new-comment.tsx';

/** The number of comments that one request loads. */
const pageSize = 50;

/** What people and agents say about a task: the newest comments, the oldest of them first, and a field for another one. */
export function Comments({ taskId }: { taskId: string }) {
  const canWrite = useScope('tasks:write');
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useComments(taskId);
  const comments = unique(data?.pages.toReversed().flatMap((page) => page.comments) ?? []);
  return (
    <section className="task-comments" aria-label="Comments">
      <h3>
        Comments <span className="count">{data?.pages[0]?.total.toLocaleString('en')}</span>
      </h3>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton rows={2} />}
      {hasNextPage && (
        <button type="button" className="quiet" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show earlier comments
        </button>
      )}
      <ol>
        {comments.map((comment) => (
          <Comment key={comment.id} taskId={taskId} comment={comment} />
        ))}
      </ol>
      {canWrite && <NewComment taskId={taskId} />}
    </section>
  );
}

/** Reads the comments of a task from the newest on. Each further page has the comments before the last one. */
function useComments(taskId: string) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: [...oneTask(client, taskId).queryKey, 'comments'],
    queryFn: ({ pageParam: end, signal }) => readBefore(client, taskId, end, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ offset }) => (offset > 0 ? offset : undefined),
  });
}

/** Reads the last comments before an offset; without it, the newest. The list of the API begins with the oldest. */
async function readBefore(client: Client, taskId: string, end: number | undefined, signal: AbortSignal) {
  const read = (offset: number, limit: number) =>
    client.listComments({ params: { id: taskId }, query: { offset, limit }, signal });
  if (end !== undefined) return pageOf(await read(Math.max(0, end - pageSize), Math.min(end, pageSize)));
  const first = await read(0, pageSize);
  const { total } = first.pagination;
  return pageOf(total > pageSize ? await read(total - pageSize, pageSize) : first);
}

function pageOf({ data: comments, pagination: { offset, total } }: Awaited<ReturnType<Client['listComments']>>) {
  return { comments, offset, total };
}

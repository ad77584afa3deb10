import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReviewDecision, TaskDetail } from '../../../../../client/operations.ts';
import { Failure } from '../../../../components/failure.tsx';
import { useDraft } from '../../../../components/hooks/use-draft.ts';
import { useNotices } from '../../../../components/notices.tsx';
import { useClient, useScope } from '../../../../session.ts';
import { useFocusOfPanel } from '../../focus.ts';
import { statusLabels } from '../../tasks.ts';
import { isOfEndedClaim } from '../task-claim.tsx';

/** Accepts the work on a task, or sends it back; nothing for a task that does not wait for a review. */
export function ReviewForm({ task }: { task: TaskDetail }) {
  const canWrite = useScope('tasks:write');
  const isInReview = task.status === 'qa_review' || task.status === 'up_for_review';
  return canWrite && isInReview ? <Decision task={task} /> : null;
}

function Decision({ task }: { task: TaskDetail }) {
  const { id, title } = task;
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  const [entered = '', keepEntered] = useDraft<string>(`review/${id}`);
  const comment = entered.trim();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (decision: ReviewDecision) =>
      client.reviewTask({ params: { id }, body: { decision, ...(comment !== '' && { comment }) } }),
    // The buttons stay disabled until the panel shows the new status.
    onSuccess: ({ data }, decision) => {
      keepEntered(undefined);
      say(decision === 'accept' ? `Accepted “${title}”.` : `Sent “${title}” back: ${statusLabels[data.status]}.`);
      return queries.invalidateQueries({ queryKey: ['tasks'] });
    },
  });
  useFocusOfPanel();
  return (
    <section className="task-review" aria-label="Review">
      <h3>Review</h3>
      <label className="field">
        <span>Comment, in Markdown. Say what is missing to send the task back.</span>
        <textarea
          rows={3}
          maxLength={10_000}
          value={entered}
          onChange={({ target }) => keepEntered(target.value || undefined)}
        />
      </label>
      {error && !isOfEndedClaim(error, task) && <Failure error={error} />}
      <div className="actions">
        <button type="button" className="primary" disabled={isPending} onClick={() => mutate('accept')}>
          Accept
        </button>
        <button
          type="button"
          disabled={isPending || comment === ''}
          title={comment === '' ? 'Enter a comment first.' : undefined}
          onClick={() => mutate('send_back')}
        >
          Send back
        </button>
      </div>
    </section>
  );
}

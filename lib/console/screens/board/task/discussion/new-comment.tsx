import { useMutation } from '@tanstack/react-query';
import { useDraft } from '../../../../components/hooks/use-draft.ts';
import { useClient } from '../../../../session.ts';
import { CommentForm } from './comment-form.tsx';
import { useDiscussionChanged } from './use-discussion-changed.ts';

/** The field for a new comment. What was entered stays while another task is shown. */
export function NewComment({ taskId }: { taskId: string }) {
  const client = useClient();
  const changed = useDiscussionChanged(taskId);
  const [draft = '', keepDraft] = useDraft<string>(`comment/${taskId}`);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (text: string) => client.commentOnTask({ params: { id: taskId }, body: { text } }),
    onSuccess: async () => {
      await changed();
      keepDraft(undefined);
    },
  });
  return (
    <CommentForm
      name="Comment, in Markdown"
      entered={draft}
      enter={(text) => keepDraft(text || undefined)}
      label="Comment"
      isDisabled={isPending}
      error={error}
      save={mutate}
    />
  );
}

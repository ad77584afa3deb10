import { useMutation } from '@tanstack/react-query';
import { useClient } from '../../../../session.ts';
import { useDraft } from '../use-draft.ts';
import { CommentForm } from './comment-form.tsx';
import { useDiscussionChanged } from './use-discussion-changed.ts';

/** The field for a new comment. */
export function NewComment({ taskId }: { taskId: string }) {
  const client = useClient();
  const changed = useDiscussionChanged(taskId);
  const [text, setText] = useDraft('comment', taskId);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (comment: string) => client.commentOnTask({ params: { id: taskId }, body: { text: comment } }),
    onSuccess: async () => {
      await changed();
      setText('');
    },
  });
  return (
    <CommentForm
      name="Comment, in Markdown"
      text={text}
      setText={setText}
      label="Comment"
      isDisabled={isPending}
      error={error}
      save={mutate}
    />
  );
}

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useClient } from '../../../../session.ts';
import { CommentForm } from './comment-form.tsx';
import { useDiscussionChanged } from './use-discussion-changed.ts';

/** The field for a new comment. */
export function NewComment({ taskId }: { taskId: string }) {
  const client = useClient();
  const changed = useDiscussionChanged(taskId);
  // Each comment has a form of its own, so that the field is empty again.
  const [nth, setNth] = useState(0);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (text: string) => client.commentOnTask({ params: { id: taskId }, body: { text } }),
    onSuccess: async () => {
      await changed();
      setNth(nth + 1);
    },
  });
  return (
    <CommentForm
      key={nth}
      name="Comment, in Markdown"
      label="Comment"
      isDisabled={isPending}
      error={error}
      save={mutate}
    />
  );
}

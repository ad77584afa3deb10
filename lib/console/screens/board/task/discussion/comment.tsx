import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Actor, Comment as CommentOfTask, ReviewDecision } from '../../../../../client/operations.ts';
import { ActionMenu } from '../../../../components/action-menu.tsx';
import { ConfirmDialog } from '../../../../components/dialogs/confirm.tsx';
import { Markdown } from '../../../../components/markdown/markdown.tsx';
import { Ago } from '../../../../components/time.tsx';
import { useClient, useScope, useSession } from '../../../../session.ts';
import { CommentForm } from './comment-form.tsx';
import { useDiscussionChanged } from './use-discussion-changed.ts';

const decisions: Readonly<Record<ReviewDecision, { text: string; status: string }>> = {
  accept: { text: 'Accepted', status: 'done' },
  send_back: { text: 'Sent back', status: 'failed' },
};

type Props = { taskId: string; comment: CommentOfTask };

/** A comment on a task. Its author can change and delete it. */
export function Comment({ taskId, comment }: Props) {
  const { id, text, author, review, createdAt, updatedAt } = comment;
  const { me } = useSession();
  const isOwn = author.id === me.token.id;
  const canWrite = useScope('tasks:write');
  // The text that is entered while the comment is changed.
  const [entered, setEntered] = useState<string>();
  const isEditing = entered !== undefined;
  const [isDeleting, setDeleting] = useState(false);
  const client = useClient();
  const changed = useDiscussionChanged(taskId);
  const params = { id: taskId, commentId: id };
  const edit = useMutation({
    mutationFn: (changed: string) => client.updateComment({ params, body: { text: changed } }),
    onSuccess: async () => {
      await changed();
      setEntered(undefined);
    },
  });
  return (
    <li className="comment">
      <div className="comment-head">
        <p>
          <AuthorName author={author} isOwn={isOwn} />
          {review && <span className={`status status-${decisions[review].status}`}>{decisions[review].text}</span>}
          <span className="muted">
            <Ago at={createdAt} />
            {updatedAt !== createdAt && ', edited'}
          </span>
        </p>
        {canWrite && isOwn && !isEditing && (
          <ActionMenu
            label="Change the comment"
            actions={[
              { label: 'Edit', run: () => setEntered(text) },
              { label: 'Delete', run: () => setDeleting(true), isDestructive: true },
            ]}
          >
            ⋯
          </ActionMenu>
        )}
      </div>
      {isEditing ? (
        <CommentForm
          name="Text of the comment, in Markdown"
          entered={entered}
          enter={setEntered}
          label="Save"
          isDisabled={edit.isPending}
          error={edit.error}
          save={edit.mutate}
          cancel={() => {
            edit.reset();
            setEntered(undefined);
          }}
        />
      ) : (
        <Markdown text={text} />
      )}
      <ConfirmDialog
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title="Delete the comment?"
        label="Delete the comment"
        isDestructive
        act={async () => {
          await client.deleteComment({ params });
          await changed();
        }}
      >
        <p>The comment is deleted permanently. The history of the task keeps its start.</p>
      </ConfirmDialog>
    </li>
  );
}

/** Who has written a comment: a name, which anybody can give to a token, and what bears the name. */
function AuthorName({ author: { kind, name, id }, isOwn }: { author: Omit<Actor, 'executionId'>; isOwn: boolean }) {
  const canReadAgents = useScope('agents:read');
  return (
    <>
      {kind === 'agent' && canReadAgents ? (
        <Link to="/agents/$name" params={{ name }} title={id}>
          {name}
        </Link>
      ) : (
        <strong title={id}>{name}</strong>
      )}
      <span className="muted">{isOwn ? `${kind}, you` : kind}</span>
    </>
  );
}

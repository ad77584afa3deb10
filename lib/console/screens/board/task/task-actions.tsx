import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { TaskDetail } from '../../../../client/operations.ts';
import { ActionMenu } from '../../../components/action-menu.tsx';
import { useCopyAsCurl } from '../../../components/copy-as-curl.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm.tsx';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { FormEnd } from '../../../components/dialogs/form-end.tsx';
import { oneTask } from '../../../components/hooks/one-task.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useClient, useScope } from '../../../session.ts';

type TaskMenuProps = { task: TaskDetail; etag: string | undefined; onDeleted: () => void };

/**
 * A menu that copies the request of a task and deletes the task after a confirmation, if it still is the one on the screen.
 */
export function TaskMenu({ task, etag, onDeleted }: TaskMenuProps) {
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  const [isAsked, setAsked] = useState(false);
  const copyAsCurl = useCopyAsCurl('getTask', { params: { id: task.id } });
  return (
    <>
      <ActionMenu
        label="More actions"
        actions={[copyAsCurl, { label: 'Delete…', run: () => setAsked(true), isDestructive: true }]}
      >
        ⋯
      </ActionMenu>
      <ConfirmDialog
        open={isAsked}
        onClose={() => setAsked(false)}
        title="Delete the task?"
        label="Delete the task"
        isDestructive
        act={async () => {
          await client.deleteTask({ params: { id: task.id }, ifMatch: etag });
          onDeleted();
          queries.removeQueries({ queryKey: oneTask(client, task.id).queryKey });
          say(`Deleted “${task.title}”.`);
          void queries.invalidateQueries({ queryKey: ['executions'] });
          await queries.invalidateQueries({ queryKey: ['tasks'] });
        }}
      >
        <p>“{task.title}” is deleted permanently.</p>
      </ConfirmDialog>
    </>
  );
}

/** A button that runs the assigned agent on a task. A blocked or claimed task and one without an agent cannot run. */
export function RunTask({ task }: { task: TaskDetail }) {
  const { id, title, assignedAgent: name } = task;
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  const canRun = useScope('agents:execute');
  const [isOpen, setOpen] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ agent, input }: { agent: string; input: string }) =>
      client.executeAgent({ params: { name: agent }, body: { input, taskId: id } }),
    onSuccess: async ({ data }) => {
      setOpen(false);
      say(`${data.agentName} has started.`);
      const nouns = ['tasks', 'executions', 'events'];
      await Promise.all(nouns.map((noun) => queries.invalidateQueries({ queryKey: [noun] })));
    },
  });
  if (!canRun || !name) return null;
  const obstacle = obstacleTo(task);
  return (
    <>
      <button type="button" disabled={obstacle !== undefined} title={obstacle} onClick={() => setOpen(true)}>
        Run {name}
      </button>
      <Modal title={`Run ${name} on this task`} open={isOpen} onClose={() => setOpen(false)}>
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            mutate({ agent: name, input: String(new FormData(event.currentTarget).get('input')) });
          }}
        >
          <label className="field">
            <span>Instruction</span>
            <textarea name="input" rows={4} required defaultValue={title} />
          </label>
          <FormEnd label="Run" isDisabled={isPending} error={error} cancel={() => setOpen(false)} />
        </form>
      </Modal>
    </>
  );
}

/** Returns why an execution cannot start on a task. */
function obstacleTo({ blockedBy, claim }: TaskDetail): string | undefined {
  if (claim) return 'A worker has claimed the task.';
  return blockedBy.length > 0 ? 'The dependencies must be done first.' : undefined;
}

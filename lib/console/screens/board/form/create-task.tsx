import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { TaskStatus } from '../../../../client/operations.ts';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { FormEnd } from '../../../components/dialogs/form-end.tsx';
import { useDraft } from '../../../components/hooks/use-draft.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useClient } from '../../../session.ts';
import type { Filters } from '../tasks.ts';
import { TaskFields } from './fields.tsx';
import { changesOf, newTaskOf, type TaskValues, valuesOf } from './task-values.ts';

type Props = { status: TaskStatus; filters: Filters; onClose: () => void };

/**
 * The dialog that creates a task. The status and the filters are its first values, so that the board shows the new task. What was
 * entered stays when the dialog is closed.
 */
export function CreateTask({ status, filters, onClose }: Props) {
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  const [draft, keepDraft] = useDraft<Partial<TaskValues>>('new-task');
  const before = valuesOf({
    status,
    ...(filters.assigned_agent && { assignedAgent: filters.assigned_agent }),
    ...(filters.project_id && { projectId: filters.project_id }),
    ...(filters.priority && { priority: filters.priority }),
  });
  const values = { ...before, ...draft };
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.createTask({ body: newTaskOf(values) }),
    onSuccess: async ({ data }) => {
      keepDraft(undefined);
      onClose();
      say(`Created “${data.title}”.`);
      await queries.invalidateQueries({ queryKey: ['tasks'] });
    },
  });
  const discard = () => {
    keepDraft(undefined);
    onClose();
  };
  return (
    <Modal title="Create a task" open onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <TaskFields values={values} change={(changes) => keepDraft(changesOf({ ...values, ...changes }, before))} />
        <FormEnd label="Create" isDisabled={isPending} error={error} cancel={onClose} discard={draft && discard} />
      </form>
    </Modal>
  );
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { NewTask, TaskStatus } from '../../../client/operations.ts';
import { Modal } from '../../components/dialog.tsx';
import { FormEnd } from '../../components/form-end.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useClient } from '../../session.ts';
import { type EnteredTask, TaskFields, taskIn } from './fields.tsx';
import type { Filters } from './tasks.ts';

type Props = { status: TaskStatus; filters: Filters; onClose: () => void };

/** The dialog that creates a task. The status and the filters are its first values, so that the board shows the new task. */
export function CreateTask({ status, filters, onClose }: Props) {
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (entered: EnteredTask) => client.createTask({ body: bodyOf(entered) }),
    onSuccess: async ({ data }) => {
      onClose();
      say(`Created “${data.title}”.`);
      await queries.invalidateQueries({ queryKey: ['tasks'] });
    },
  });
  return (
    <Modal title="Create a task" open onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          mutate(taskIn(event.currentTarget));
        }}
      >
        <TaskFields
          task={{
            status,
            ...(filters.assigned_agent && { assignedAgent: filters.assigned_agent }),
            ...(filters.project_id && { projectId: filters.project_id }),
            ...(filters.priority && { priority: filters.priority }),
          }}
        />
        <FormEnd label="Create" isDisabled={isPending} error={error} cancel={onClose} />
      </form>
    </Modal>
  );
}

/** Returns the request with the fields that are not empty. */
function bodyOf({ title, ...entered }: EnteredTask): NewTask {
  return { title, ...Object.fromEntries(Object.entries(entered).filter(([, value]) => value.length > 0)) };
}

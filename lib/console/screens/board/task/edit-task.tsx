import { type FormEvent, useState } from 'react';
import type { TaskDetail, TaskPatch } from '../../../../client/operations.ts';
import { FormEnd } from '../../../components/form-end.tsx';
import { useTaskChanges } from '../change-task.ts';
import { ConflictDialog } from '../conflict-dialog.tsx';
import { type EnteredTask, TaskFields, taskIn } from '../fields.tsx';
import { isOfEndedClaim } from './task-claim.tsx';

/** The form that changes a task. It compares with the task that it began with, also if that changes in the meantime. */
export function EditTask({ task, onClose }: { task: TaskDetail; onClose: () => void }) {
  const [seen] = useState(task);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>();
  const { change, conflict, overwrite, dismiss } = useTaskChanges(setError);

  async function save(send: () => Promise<boolean>): Promise<void> {
    setSaving(true);
    setError(undefined);
    const isSaved = await send();
    setSaving(false);
    if (isSaved) onClose();
  }
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const patch = patchOf(seen, taskIn(event.currentTarget));
    if (Object.keys(patch).length === 0) onClose();
    else void save(() => change(seen, patch));
  }
  return (
    <form className="form" onSubmit={submit}>
      <TaskFields task={seen} />
      <FormEnd
        label="Save"
        isDisabled={isSaving}
        error={isOfEndedClaim(error, task) ? undefined : error}
        cancel={onClose}
      />
      {conflict && (
        <ConflictDialog
          conflict={conflict}
          overwrite={() => void save(overwrite)}
          dismiss={() => {
            dismiss();
            onClose();
          }}
        />
      )}
    </form>
  );
}

/** Returns the fields that differ from the task. An empty optional field is cleared. */
function patchOf(task: TaskDetail, entered: EnteredTask): TaskPatch {
  const { description = '', assignedAgent = '', projectId = '' } = task;
  const before: EnteredTask = {
    ...{ title: task.title, status: task.status, priority: task.priority },
    // A text area has its own line ends.
    ...{ description: description.trim(), assignedAgent, projectId, dependsOn: task.dependsOn.map(({ id }) => id) },
  };
  const changed = (Object.keys(before) as (keyof EnteredTask)[]).filter(
    (name) => String(before[name]).replaceAll('\r\n', '\n') !== String(entered[name]).replaceAll('\r\n', '\n'),
  );
  return Object.fromEntries(changed.map((name) => [name, entered[name] === '' ? null : entered[name]]));
}

import { type FormEvent, useState } from 'react';
import type { TaskDetail } from '../../../../client/operations.ts';
import { FormEnd } from '../../../components/dialogs/form-end.tsx';
import { useDraft } from '../../../components/hooks/use-draft.ts';
import { useTaskChanges } from '../change-task.ts';
import { ConflictDialog } from '../conflict-dialog.tsx';
import { TaskFields } from '../form/fields.tsx';
import { changesOf, patchOf, type TaskValues, valuesOf } from '../form/task-values.ts';
import { isOfEndedClaim } from './task-claim.tsx';

/** The changes that are not saved, and the task that they began with. */
type Draft = { seen: TaskDetail; changes: Partial<TaskValues> };

/** Returns the name of the draft of a task. */
export function taskDraft(id: string): string {
  return `task/${id}`;
}

/**
 * The form that changes a task. It compares with the task that it began with, also if that changes in the meantime. What was
 * entered stays when the panel is closed.
 */
export function EditTask({ task, onClose }: { task: TaskDetail; onClose: () => void }) {
  const [draft, keepDraft] = useDraft<Draft>(taskDraft(task.id));
  const [seen] = useState(draft?.seen ?? task);
  const before = valuesOf(seen);
  const values = { ...before, ...draft?.changes };
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>();
  const { change, conflict, overwrite, dismiss } = useTaskChanges(setError);

  function close(): void {
    keepDraft(undefined);
    onClose();
  }
  function enter(entered: Partial<TaskValues>): void {
    const changes = changesOf({ ...values, ...entered }, before);
    keepDraft(changes && { seen, changes });
  }
  async function save(send: () => Promise<boolean>): Promise<void> {
    setSaving(true);
    setError(undefined);
    const isSaved = await send();
    setSaving(false);
    if (isSaved) close();
  }
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const patch = patchOf(before, values);
    if (Object.keys(patch).length === 0) close();
    else void save(() => change(seen, patch));
  }
  return (
    <form className="form" onSubmit={submit}>
      <TaskFields values={values} change={enter} self={task.id} />
      <FormEnd
        label="Save"
        isDisabled={isSaving}
        error={isOfEndedClaim(error, task) ? undefined : error}
        cancel={onClose}
        discard={draft && close}
      />
      {conflict && (
        <ConflictDialog
          conflict={conflict}
          overwrite={() => void save(overwrite)}
          dismiss={() => {
            dismiss();
            close();
          }}
        />
      )}
    </form>
  );
}

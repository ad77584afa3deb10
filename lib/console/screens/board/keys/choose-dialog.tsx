import { useState } from 'react';
import type { TaskPatch } from '../../../../client/operations.ts';
import { SearchDialog } from '../../../components/dialogs/search-dialog.tsx';
import { useAgentNames } from '../../../components/hooks/use-agent-names.ts';
import { priorities, type SeenTask, statuses, statusLabels } from '../tasks.ts';

/** A field of a task that has a list of choices. */
export type ChosenField = 'status' | 'priority' | 'assignedAgent';

const fieldNames: Readonly<Record<ChosenField, string>> = {
  status: 'Status',
  priority: 'Priority',
  assignedAgent: 'Agent',
};

type Props = {
  field: ChosenField;
  tasks: readonly SeenTask[];
  choose: (patch: TaskPatch) => void;
  onClose: () => void;
};

/** A dialog that lists the values of a field for one or several tasks, and finds them by what is typed. */
export function ChooseDialog({ field, tasks, choose, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const names = useAgentNames() ?? [];
  const subject = tasks.length === 1 ? `“${tasks[0]?.title}”` : `${tasks.length} tasks`;
  const label = `${fieldNames[field]} of ${subject}`;
  const values = new Set(tasks.map((task) => task[field] ?? null));
  return (
    <SearchDialog
      name={label}
      label={label}
      placeholder={label}
      items={choicesOf(field, names).map((choice) => ({ ...choice, group: '' }))}
      typed={typed}
      onType={setTyped}
      none={`No ${fieldNames[field].toLowerCase()} has these words.`}
      detailOf={({ value }) => values.size === 1 && values.has(value) && <span className="muted">current</span>}
      choose={({ value }) => choose({ [field]: value })}
      onClose={onClose}
    />
  );
}

function choicesOf(field: ChosenField, agents: readonly string[]): { label: string; value: string | null }[] {
  if (field === 'status') return statuses.map((value) => ({ label: statusLabels[value], value }));
  if (field === 'priority') return priorities.map((value) => ({ label: value, value }));
  return [{ label: 'No agent', value: null }, ...agents.map((value) => ({ label: value, value }))];
}

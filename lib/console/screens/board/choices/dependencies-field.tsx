import { Combobox } from '@base-ui/react/combobox';
import { useState } from 'react';
import type { TaskReference } from '../../../../client/operations.ts';
import { messageOf } from '../../../components/format/message-of.ts';
import { useTaskSearch } from '../../../components/hooks/use-task-search.ts';
import { Status } from '../../../components/page.tsx';

type Props = {
  value: readonly TaskReference[];
  onChange: (value: readonly TaskReference[]) => void;
  /** The id of the task that depends on them, which is not offered. */
  self: string | undefined;
};

/** A choice of tasks that must be done first. It finds them by the words of their titles, or by an id. */
export function DependenciesField({ value, onChange, self }: Props) {
  const [typed, setTyped] = useState('');
  const { found, isSearching, error } = useTaskSearch(typed);
  return (
    <div className="field">
      <span>Tasks that must be done first</span>
      <Combobox.Root
        multiple
        items={found.tasks.filter(({ id }) => id !== self)}
        // The service has searched.
        filter={null}
        value={[...value]}
        onValueChange={(next, details) => {
          // Escape would remove all. It closes the form instead.
          if (details.reason === 'escape-key') details.allowPropagation();
          else onChange(next);
        }}
        inputValue={typed}
        onInputValueChange={setTyped}
        itemToStringLabel={({ title }: TaskReference) => title}
        itemToStringValue={({ id }: TaskReference) => id}
        isItemEqualToValue={(one: TaskReference, other: TaskReference) => one.id === other.id}
        autoHighlight
      >
        <Combobox.Chips className="chips">
          {value.map(({ id, title }) => (
            <Combobox.Chip key={id} className="chip" aria-label={title} title={id}>
              <span className="ellipsis">{title}</span>
              <Combobox.ChipRemove className="quiet" aria-label={`Remove “${title}”`}>
                ×
              </Combobox.ChipRemove>
            </Combobox.Chip>
          ))}
          <Combobox.Input
            aria-label="Tasks that must be done first"
            placeholder="Words of the title, or an id"
            spellCheck={false}
          />
        </Combobox.Chips>
        <Combobox.Portal>
          <Combobox.Positioner className="menu-place" sideOffset={8}>
            <Combobox.Popup className="menu choices-menu">
              <Combobox.Status className="choices-status">
                {statusOf(typed, isSearching, error, found.tasks.length)}
              </Combobox.Status>
              <Combobox.List>
                {(task: TaskReference) => (
                  <Combobox.Item key={task.id} value={task} className="menu-item choice">
                    <span className="ellipsis" title={task.title}>
                      {task.title}
                    </span>
                    <Status value={task.status} />
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
    </div>
  );
}

/** Returns what is said instead of a list of tasks; nothing if there is one. */
function statusOf(typed: string, isSearching: boolean, error: Error | null, count: number): string | null {
  if (typed.trim().length < 2) return 'Enter the beginning of a word.';
  if (error) return messageOf(error);
  if (count > 0) return null;
  return isSearching ? 'Searching…' : 'No task has these words. A new task is found after about a second.';
}

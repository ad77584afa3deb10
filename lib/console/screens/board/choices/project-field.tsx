import { Autocomplete } from '@base-ui/react/autocomplete';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useState } from 'react';
import { useClient, useScope } from '../../../session.ts';
import { projectPattern } from '../tasks.ts';

type Props = Pick<ComponentProps<'input'>, 'placeholder' | 'title' | 'onBlur'> & {
  name: string;
  label: string;
  defaultValue: string | undefined;
  /** Called with each text that is entered or chosen. */
  onChange?: (project: string) => void;
  /** Called when a project is chosen from the list. */
  onChoose?: (project: string) => void;
};

/** The id of a project, which can be chosen from those that exist, or entered. */
export function ProjectField({ name, label, defaultValue, onChange, onChoose, ...input }: Props) {
  const [value, setValue] = useState(defaultValue ?? '');
  const [isOpen, setOpen] = useState(false);
  // All projects are offered until the user types.
  const [typed, setTyped] = useState('');
  const projects = useProjects(isOpen).filter((one) => one.toLowerCase().includes(typed.toLowerCase()));
  return (
    <Autocomplete.Root
      items={projects}
      filter={null}
      name={name}
      value={value}
      onValueChange={(next, { reason }) => {
        // Escape would clear the field.
        if (reason === 'escape-key') return;
        setValue(next);
        setTyped(next);
        onChange?.(next);
        if (reason === 'item-press') onChoose?.(next);
      }}
      open={isOpen && projects.length > 0}
      onOpenChange={(isNext) => {
        setOpen(isNext);
        if (!isNext) setTyped('');
      }}
      openOnInputClick
    >
      <Autocomplete.Input
        aria-label={label}
        pattern={projectPattern}
        autoComplete="off"
        spellCheck={false}
        {...input}
      />
      <Autocomplete.Portal>
        <Autocomplete.Positioner className="menu-place" sideOffset={4}>
          <Autocomplete.Popup className="menu choices-menu">
            <Autocomplete.List>
              {(project: string) => (
                <Autocomplete.Item key={project} value={project} className="menu-item ellipsis">
                  {project}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}

/** How long the projects are kept, in milliseconds. */
const keptMs = 60_000;

/** Returns the projects of the newest 100 tasks, sorted. A project is nothing but its id in tasks, so there is no list of all. */
function useProjects(isNeeded: boolean): readonly string[] {
  const client = useClient();
  const canRead = useScope('tasks:read');
  const { data = [] } = useQuery({
    // Not a noun of events: each event of a task would lead to a read.
    queryKey: ['projects'],
    queryFn: async ({ signal }) => {
      const { data } = await client.listTasks({ query: { limit: 100 }, signal });
      return [...new Set(data.flatMap(({ projectId }) => projectId ?? []))].sort();
    },
    enabled: canRead && isNeeded,
    staleTime: keptMs,
  });
  return data;
}

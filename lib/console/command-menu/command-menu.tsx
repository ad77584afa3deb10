import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useState } from 'react';
import { Status } from '../components/page.tsx';
import { useTaskSearch } from '../components/use-task-search.ts';
import { type Command, useCommands } from './use-commands.ts';

type Group = { name: string; items: Command[] };

/**
 * A dialog with a field that finds commands. Escape and a click beside it close it.
 *
 * @param takeTyped returns what was typed until the field has the focus
 */
export function CommandMenu({ takeTyped, onClose }: { takeTyped: () => string; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const { found, isSearching } = useTaskSearch(typed);
  const groups = groupsOf(useCommands(typed, found));
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="modal command-menu" aria-label="Command menu">
          <Autocomplete.Root
            open
            inline
            items={groups}
            value={typed}
            onValueChange={setTyped}
            filter={hasWords}
            itemToStringValue={({ label }: Command) => label}
            autoHighlight="always"
            keepHighlight
          >
            <div className="command-field">
              <Autocomplete.Input
                aria-label="Search or run a command"
                placeholder="Search or run…"
                spellCheck={false}
                onFocus={() => setTyped(typed + takeTyped())}
              />
              <Dialog.Close aria-label="Close">×</Dialog.Close>
            </div>
            <Autocomplete.Empty className="command-none">
              {isSearching ? 'Searching…' : 'No command, agent, webhook or task matches.'}
            </Autocomplete.Empty>
            <Autocomplete.List className="command-list">
              {({ name, items }: Group) => (
                <Autocomplete.Group key={name} items={items} className="command-group">
                  <Autocomplete.GroupLabel className="command-group-name">{name}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Command) => (
                      <Autocomplete.Item
                        key={`${command.label} ${command.keywords}`}
                        value={command}
                        className="menu-item choice"
                        onClick={() => {
                          onClose();
                          command.run();
                        }}
                      >
                        <span className="ellipsis">{command.label}</span>
                        {command.status && <Status value={command.status} />}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Returns the commands by their groups, in the order of the first command of each. */
function groupsOf(commands: readonly Command[]): Group[] {
  return [...new Set(commands.map(({ group }) => group))].map((name) => ({
    name,
    items: commands.filter(({ group }) => group === name),
  }));
}

/** Returns whether a command has all words of a query, in any order: in its group, its label or its keywords. */
function hasWords({ group, label, keywords = '' }: Command, query: string): boolean {
  const text = `${group} ${label} ${keywords}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

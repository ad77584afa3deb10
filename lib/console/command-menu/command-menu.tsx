import { useState } from 'react';
import { SearchDialog } from '../components/dialogs/search-dialog.tsx';
import { useTaskSearch } from '../components/hooks/use-task-search.ts';
import { Status } from '../components/page.tsx';
import { useCommands } from './use-commands.ts';

/**
 * A dialog with a field that finds commands. Escape and a click beside it close it.
 *
 * @param takeTyped returns what was typed until the field has the focus
 */
export function CommandMenu({ takeTyped, onClose }: { takeTyped: () => string; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const { found, isSearching } = useTaskSearch(typed);
  return (
    <SearchDialog
      name="Command menu"
      label="Search or run a command"
      placeholder="Search or run…"
      items={useCommands(typed, found)}
      typed={typed}
      onType={setTyped}
      none={isSearching ? 'Searching…' : 'No command, agent, webhook or task matches.'}
      detailOf={({ status }) => status && <Status value={status} />}
      choose={({ run }) => run()}
      onClose={onClose}
      onFocus={() => setTyped(typed + takeTyped())}
    />
  );
}

import { type MouseEvent as ClickOf, createContext, useContext } from 'react';
import type { TaskListItem } from '../../../../client/operations.ts';
import type { Action } from '../../../components/action-menu.tsx';
import type { Selection } from './selection.ts';

/** The selection for the cards of the board; absent if the token must not change tasks. */
export const SelectionContext = createContext<Selection | undefined>(undefined);

/**
 * Returns the parts of a card that select it: the attributes of the card, so that a click with Ctrl or ⌘ selects it and one with Shift
 * all cards up to it, and the action of its menu.
 */
export function useCardSelection(task: TaskListItem) {
  const selection = useContext(SelectionContext);
  if (!selection) return { attributes: {}, actions: [] };
  const isSelected = selection.selected.has(task.id);
  const actions: Action[] = [{ label: isSelected ? 'Deselect' : 'Select', run: () => selection.toggle(task) }];
  const attributes = {
    'data-selected': isSelected || undefined,
    onClickCapture: (event: ClickOf) => {
      if (isOnControl(event) || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.shiftKey) selection.selectTo(task);
      else selection.toggle(task);
    },
    onMouseDown: (event: ClickOf) => {
      // It would select the text between this card and the one that was clicked before.
      if (event.shiftKey && !isOnControl(event)) event.preventDefault();
    },
  };
  return { attributes, actions };
}

function isOnControl({ target }: ClickOf): boolean {
  return (target as Element).closest('button, input, [role=menu]') !== null;
}

/** The checkbox of a card. It is shown when the card has the pointer or the focus, and while a card is selected. */
export function SelectBox({ task }: { task: TaskListItem }) {
  const selection = useContext(SelectionContext);
  if (!selection) return null;
  return (
    <input
      type="checkbox"
      className="card-box"
      aria-label={`Select “${task.title}”`}
      checked={selection.selected.has(task.id)}
      onChange={({ nativeEvent }) => {
        const isRange = nativeEvent instanceof MouseEvent && nativeEvent.shiftKey;
        (isRange ? selection.selectTo : selection.toggle)(task);
      }}
    />
  );
}

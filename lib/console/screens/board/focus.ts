import { type RefObject, useEffect, useRef } from 'react';
import type { TaskStatus } from '../../../client/operations.ts';
import type { Move } from './slots.ts';

/** How long a menu or a dialog takes to close, and a column to scroll to a card, in milliseconds. */
const settlingMs = 50;

/**
 * Gives the focus to the card of a task, after menus and dialogs have closed. If the card is out of view, the column gets
 * it, or the button that expands it. Returns a function that cancels this.
 */
export function focusCard(id: string | undefined, column?: TaskStatus): () => void {
  if (id === undefined) return () => {};
  const timer = setTimeout(() => {
    // A dialog has the focus while it is open, and a panel once the user has gone on to it.
    if (document.querySelector('[role=dialog]:not(.beside)') || document.activeElement?.closest('.beside')) return;
    const card = document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"] button`);
    const rest = ':is(.column-cards:not([hidden]), [aria-expanded="false"])';
    (card ?? document.querySelector<HTMLElement>(`[data-status="${column}"] ${rest}`))?.focus();
  }, settlingMs);
  return () => clearTimeout(timer);
}

/** Gives the focus to an element if what had it has disappeared, for example a button that was replaced while a dialog closed. */
export function focusIfLost(find: () => HTMLElement | null | undefined): void {
  setTimeout(() => {
    if (document.activeElement === document.body) find()?.focus();
  }, settlingMs);
}

/** Gives the focus to the card of a task, wherever it is now, or to the board, if what had the focus has disappeared. */
export function focusCardIfLost(id = ''): void {
  focusIfLost(
    () => document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"] a`) ?? document.getElementById('main'),
  );
}

/** Gives the focus to the open panel when a part of the panel disappears with the element that has the focus. */
export function useFocusOfPanel(): void {
  useEffect(() => () => focusIfLost(() => document.querySelector<HTMLElement>('.side-panel')), []);
}

/**
 * Returns the place for the id of a task that is moved by its menu. Its card is another element in each column, so it gets
 * the focus again when the move begins, and when it ends.
 */
export function useRefocus(pending: readonly Move[]): RefObject<string | undefined> {
  const moved = useRef<string | undefined>(undefined);
  const column = useRef<TaskStatus | undefined>(undefined);
  useEffect(() => {
    const id = moved.current;
    if (id === undefined) return;
    const move = pending.find(({ task }) => task.id === id);
    if (move) column.current = move.to;
    else moved.current = undefined;
    return focusCard(id, column.current);
  }, [pending]);
  return moved;
}

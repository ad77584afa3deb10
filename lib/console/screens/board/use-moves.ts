import { useCallback, useState } from 'react';
import type { Task, TaskStatus } from '../../../client/operations.ts';
import { type TaskChanges, useTaskChanges } from './change-task.ts';
import type { Move } from './slots.ts';
import { statusLabels } from './tasks.ts';

/** The moves of the board: the columns show them before the service confirms them. */
export type Moves = {
  /** The moves that are not confirmed yet. */
  pending: readonly Move[];
  move: (task: Task, to: TaskStatus) => Promise<void>;
  /** What to read to screen readers. */
  announcement: string;
  /** Shows moves that another function makes, until `hide` is called with the ids of their tasks. */
  show: (moves: readonly Move[]) => void;
  hide: (ids: readonly string[]) => void;
  /** Changes a task without a move. */
  change: TaskChanges['change'];
  changes: Omit<TaskChanges, 'change'>;
};

/** Returns the function that moves a task to another column, by drag and drop and by the menu of the card. */
export function useMoves(): Moves {
  const { change, ...changes } = useTaskChanges();
  const [pending, setPending] = useState<readonly Move[]>([]);
  const [announcement, setAnnouncement] = useState('');

  const hide = useCallback(
    (ids: readonly string[]) => setPending((all) => all.filter(({ task }) => !ids.includes(task.id))),
    [],
  );
  const show = useCallback(
    (moves: readonly Move[]) => {
      hide(moves.map(({ task }) => task.id));
      setPending((all) => [...all, ...moves]);
    },
    [hide],
  );

  async function move(task: Task, to: TaskStatus): Promise<void> {
    if (task.status === to) return;
    const one = { task, to };
    show([one]);
    setAnnouncement(`Moved “${task.title}” to ${statusLabels[to]}.`);
    const isMoved = await change(task, { status: to });
    setPending((all) => all.filter((other) => other !== one));
    if (!isMoved) setAnnouncement(`“${task.title}” was not moved.`);
  }

  return { pending, move, announcement, show, hide, change, changes };
}

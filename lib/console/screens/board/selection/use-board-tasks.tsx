import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import type { TaskListItem, TaskPatch, TaskStatus } from '../../../../client/operations.ts';
import { useScope } from '../../../session.ts';
import { cachedTask } from '../cached-tasks.ts';
import { focusCardIfLost } from '../focus.ts';
import { ChooseDialog, type ChosenField } from '../keys/choose-dialog.tsx';
import { useArrowKeys } from '../keys/use-arrow-keys.ts';
import { type ChosenBy, useTaskKeys } from '../keys/use-task-keys.ts';
import type { Filters, SeenTask } from '../tasks.ts';
import type { Moves } from '../use-moves.ts';
import { type Selection, useSelection } from './selection.ts';
import { SelectionBar } from './selection-bar.tsx';
import { useChangeMany } from './use-change-many.ts';
import { useDisappeared } from './use-disappeared.ts';

type Options = {
  filters: Filters;
  moves: Moves;
  /** Moves a task, and gives its card the focus again. */
  moveCard: (task: TaskListItem, to: TaskStatus) => void;
  /** The id of the task whose panel is open, and of the one that is being edited. */
  opened: string | undefined;
  edited: string | undefined;
  edit: (id: string) => void;
};

/** What the board has for changes of its tasks by keys, and of several tasks at once. */
type BoardTasks = {
  /** The selection; absent if the token must not change tasks. */
  selection: Selection | undefined;
  /** Moves a card that was dropped in a column: with all selected ones, if it is one of them. */
  drop: (task: TaskListItem, to: TaskStatus) => void;
  /** The bar of the selected tasks, and the dialog that asks for a value. */
  bar: ReactNode;
};

/** Returns the selection of the board with its bar, and lets keys change its tasks. */
export function useBoardTasks({ filters, moves, moveCard, opened, edited, edit }: Options): BoardTasks {
  const canWrite = useScope('tasks:write');
  const queries = useQueryClient();
  const selection = useSelection(filters);
  const { selected, remove } = selection;
  const many = useChangeMany({
    filters,
    show: moves.show,
    hide: moves.hide,
    onDone: (ids) => {
      remove(ids);
      focusCardIfLost(ids[0]);
    },
  });
  useDisappeared(filters, selection, many.progress === undefined);
  // What is asked for, of which tasks, and where.
  const [choice, setChoice] = useState<{ field: ChosenField; tasks: readonly SeenTask[]; by: ChosenBy }>();
  const changes = useRef(Promise.resolve());

  /** Changes a task after the changes before it, so that it does not conflict with them. */
  function change(task: SeenTask, patch: TaskPatch, by: ChosenBy): void {
    changes.current = changes.current.then(async () => {
      const listed = cachedTask(queries, filters, task.id);
      if (!patch.status || !listed) await moves.change(listed ?? task, patch);
      else if (by === 'card') moveCard(listed, patch.status);
      else await moves.move(listed, patch.status);
    });
  }

  useArrowKeys();
  useTaskKeys({
    filters,
    opened,
    edited,
    selection,
    choose: (field, tasks, by) => setChoice({ field, tasks, by }),
    edit,
  });

  return {
    selection: canWrite ? selection : undefined,
    drop: (task, to) => {
      if (selected.size > 1 && selected.has(task.id))
        many.run({ kind: 'change', patch: { status: to } }, [...selected.values()]);
      else void moves.move(task, to);
    },
    bar: (
      <>
        <SelectionBar
          selection={selection}
          changes={many}
          choose={(field) => setChoice({ field, tasks: [...selected.values()], by: 'selection' })}
        />
        {choice && (
          <ChooseDialog
            field={choice.field}
            tasks={choice.tasks}
            choose={(patch) => {
              const [task] = choice.tasks;
              if (choice.by === 'selection') many.run({ kind: 'change', patch }, [...selected.values()]);
              else if (task) change(task, patch, choice.by);
            }}
            onClose={() => setChoice(undefined)}
          />
        )}
      </>
    ),
  };
}

import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { TaskListItem } from '../../../../client/operations.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useClient } from '../../../session.ts';
import { cachedTasks, placedTasks } from '../cached-tasks.ts';
import { pagesAround } from '../slots.ts';
import type { Filters } from '../tasks.ts';
import { columnPage } from '../use-column-pages.ts';
import { mostSelected, type Selected, withoutTasks, withTasks } from './selected.ts';

/** The selection of the board, and the functions that change it. */
export type Selection = {
  selected: Selected;
  /** Selects a task, or deselects it. */
  toggle: (task: TaskListItem) => void;
  /** Selects all tasks from the one that was selected last to this one, if both are in the same column; else this one. */
  selectTo: (task: TaskListItem) => void;
  /** Selects a task if none is selected in its column, so that `selectTo` begins with it. */
  begin: (task: TaskListItem) => void;
  remove: (ids: readonly string[]) => void;
  clear: () => void;
};

/** Returns the selection of the board. It is empty again when the board gets other filters. */
export function useSelection(filters: Filters): Selection {
  const queries = useQueryClient();
  const client = useClient();
  const { fail } = useNotices();
  const [selected, setSelected] = useState<Selected>(new Map());
  const latest = useRef(selected);
  // The task that was selected last, which a range begins with.
  const first = useRef<TaskListItem>(undefined);

  const set = useCallback((next: Selected) => {
    latest.current = next;
    setSelected(next);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters show other tasks
  useEffect(() => set(new Map()), [filters, set]);

  return useMemo(() => {
    const remove = (ids: readonly string[]) => set(withoutTasks(latest.current, ids));
    const add = (tasks: readonly TaskListItem[] | undefined) => {
      const next = tasks && withTasks(latest.current, tasks);
      if (next) set(next);
      else
        fail(new Error(`At most ${mostSelected} tasks can be selected at once. Clear the selection, or select fewer.`));
    };
    const toggle = (task: TaskListItem) => {
      first.current = task;
      if (latest.current.has(task.id)) remove([task.id]);
      else add([task]);
    };
    const firstIn = ({ status }: TaskListItem) =>
      first.current?.status === status && latest.current.has(first.current.id) ? first.current : undefined;

    /**
     * Returns the tasks from one to another in their column; `undefined` if they are too many. Pages that are not read yet, or that
     * are out of date, are read.
     */
    async function range(from: TaskListItem, to: TaskListItem): Promise<readonly TaskListItem[] | undefined> {
      const { status } = to;
      const places = cachedTasks(queries, filters, { status })
        .filter(({ task }) => task.id === from.id || task.id === to.id)
        .map(({ place }) => place);
      const [start, end] = [Math.min(...places), Math.max(...places)];
      if (end - start >= mostSelected) return undefined;
      const pages = await Promise.all(
        pagesAround(start, end).map((offset) => queries.fetchQuery(columnPage(client, status, filters, offset))),
      );
      const tasks = pages.flatMap(placedTasks);
      return tasks.filter(({ place }) => place >= start && place <= end).map(({ task }) => task);
    }

    return {
      selected,
      toggle,
      selectTo: (task) => {
        const from = firstIn(task);
        first.current = task;
        if (from) void range(from, task).then(add, fail);
        else add([task]);
      },
      begin: (task) => {
        if (firstIn(task)) return;
        first.current = task;
        add([task]);
      },
      remove,
      clear: () => set(new Map()),
    };
  }, [selected, set, fail, queries, client, filters]);
}

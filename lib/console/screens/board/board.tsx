import { monitorForElements } from '@atlaskit/pragmatic-drag-and-drop/adapter/element-adapter';
import { combine } from '@atlaskit/pragmatic-drag-and-drop/utils/combine';
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Task, TaskStatus } from '../../../client/operations.ts';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { MissingDialog } from '../../components/dialogs/missing-scope.tsx';
import { PageHead } from '../../components/page.tsx';
import { demoProject } from '../../demo/demo-project.ts';
import { RemoveDemo } from '../../demo/remove-demo.tsx';
import { useKey, useShortcut } from '../../keys/use-key.ts';
import { useClient, useScope } from '../../session.ts';
import { isCard } from './card.tsx';
import { Column } from './column.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { EmptyBoard } from './empty/empty-board.tsx';
import { useIsEmptyBoard } from './empty/use-is-empty-board.ts';
import { FilterBar } from './filters.tsx';
import { focusCard, useRefocus } from './focus.ts';
import { CreateTask } from './form/create-task.tsx';
import { SelectionContext } from './selection/card-selection.tsx';
import { useBoardTasks } from './selection/use-board-tasks.tsx';
import { TaskPanel } from './task/task-panel.tsx';
import { filtersOf, statuses } from './tasks.ts';
import { useMoves } from './use-moves.ts';

/** The board of tasks: a column for each status. */
export function Board() {
  const search = useSearch({ from: '/board' });
  const navigate = useNavigate();
  const canWrite = useScope('tasks:write');
  const moves = useMoves();
  const { pending, move, announcement, changes } = moves;
  // The id of the task that is being edited in its panel.
  const [edited, setEdited] = useState<string>();
  useEffect(() => {
    if (search.task === undefined) setEdited(undefined);
  }, [search.task]);
  const { project, agent, priority } = search;
  const filters = useMemo(
    () => filtersOf({ ...(project && { project }), ...(agent && { agent }), ...(priority && { priority }) }),
    [project, agent, priority],
  );
  const running = useRunning();
  const isEmpty = useIsEmptyBoard(filters);
  const columns = useRef<HTMLDivElement>(null);
  const latestMove = useRef(move);
  latestMove.current = move;
  const refocus = useRefocus(pending);
  const moveByMenu = useCallback(
    (task: Task, to: TaskStatus) => {
      refocus.current = task.id;
      void latestMove.current(task, to);
    },
    [refocus],
  );
  const { selection, drop, bar } = useBoardTasks({
    filters,
    moves,
    moveCard: moveByMenu,
    opened: search.task,
    edited,
    edit: (id) => {
      setEdited(id);
      if (id !== search.task) void navigate({ to: '/board', search: { ...search, task: id } });
    },
  });
  const latestDrop = useRef(drop);
  latestDrop.current = drop;

  useEffect(() => {
    if (!columns.current) return;
    return combine(
      monitorForElements({
        canMonitor: ({ source }) => isCard(source.data),
        onDrop: ({ source, location }) => {
          const target = location.current.dropTargets[0]?.data.status as TaskStatus | undefined;
          if (target && isCard(source.data)) latestDrop.current(source.data.task, target);
        },
      }),
      autoScrollForElements({ element: columns.current }),
    );
  }, []);

  // The URL opens the dialog that creates a task, so other screens can link to it.
  const creating = statuses.find((status) => status === search.create);
  const create = (status: TaskStatus | '') =>
    void navigate({ to: '/board', search: (latest: object) => given({ ...latest, create: status }), replace: true });
  useKey('createTask', true, () => create('backlog'));
  const shortcut = useShortcut('createTask');

  return (
    <div className="board">
      <div className="board-tasks">
        <PageHead title="Board">
          {project === demoProject && <RemoveDemo />}
          <CopyAsCurl operation="listTasks" request={{ query: filters }} />
          {canWrite && (
            <button type="button" className="primary" {...shortcut} onClick={() => create('backlog')}>
              Create a task
            </button>
          )}
        </PageHead>
        <FilterBar
          search={search}
          apply={(change) => {
            void navigate({ to: '/board', search: given({ ...search, ...change }) });
          }}
        />
        {isEmpty && Object.keys(filters).length === 0 && <EmptyBoard create={() => create('backlog')} />}
        <SelectionContext value={selection}>
          <div className={isEmpty ? 'columns empty-board' : 'columns'} ref={columns}>
            {statuses.map((status) => (
              <Column
                key={`${status} ${JSON.stringify(filters)}`}
                status={status}
                filters={filters}
                moves={pending}
                running={running}
                opened={search.task}
                move={canWrite ? moveByMenu : undefined}
                create={canWrite ? () => create(status) : undefined}
              />
            ))}
          </div>
        </SelectionContext>
        {bar}
      </div>
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
      {creating && canWrite && <CreateTask status={creating} filters={filters} onClose={() => create('')} />}
      {creating && !canWrite && (
        <MissingDialog title="Create a task" scopes={['tasks:write']} onClose={() => create('')} />
      )}
      {search.task !== undefined && (
        <TaskPanel
          id={search.task}
          filters={filters}
          edited={edited}
          edit={setEdited}
          onClose={() => void navigate({ to: '/board', search: given({ ...search, task: '' }) })}
        />
      )}
      {changes.conflict && (
        <ConflictDialog
          conflict={changes.conflict}
          overwrite={() => {
            const { id } = changes.conflict?.seen ?? {};
            void changes.overwrite().then(() => focusCard(id));
          }}
          dismiss={() => {
            focusCard(changes.conflict?.seen.id);
            changes.dismiss();
          }}
        />
      )}
    </div>
  );
}

/** Returns the search parameters that are not empty. */
function given<Search extends object>(search: Search): Partial<Search> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value)) as Partial<Search>;
}

/** Returns when the running executions started, by the ids of their tasks. Of more than 100, it has the newest. */
function useRunning(): ReadonlyMap<string, string> {
  const client = useClient();
  const canRead = useScope('agents:read');
  const { data } = useQuery({
    queryKey: ['executions', 'running', 'tasks'],
    queryFn: ({ signal }) => client.listExecutions({ query: { status: 'running', limit: 100 }, signal }),
    enabled: canRead,
  });
  return useMemo(
    () => new Map(data?.data.flatMap(({ taskId, startedAt }) => (taskId ? [[taskId, startedAt] as const] : []))),
    [data],
  );
}

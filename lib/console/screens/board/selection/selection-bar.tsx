import { useEffect, useRef, useState } from 'react';
import { ConfirmDialog } from '../../../components/dialogs/confirm.tsx';
import { useScope } from '../../../session.ts';
import { focusIfLost } from '../focus.ts';
import type { ChosenField } from '../keys/choose-dialog.tsx';
import { TaskLink } from '../task-link.tsx';
import type { Selection } from './selection.ts';
import type { ManyChanges, Progress, Report } from './use-change-many.ts';

type Props = { selection: Selection; changes: ManyChanges; choose: (field: ChosenField) => void };

/** What can be done with the selected tasks, below the columns; while it is done, how far it is, and at the end what was not done. */
export function SelectionBar({ selection, changes, choose }: Props) {
  const { progress, report, closeReport, stop } = changes;
  const bar = useRef<HTMLElement>(null);
  const phase = progress ? 'progress' : report ? 'report' : 'selection';
  // The button that had the focus is gone.
  useEffect(() => {
    if (phase !== 'selection') focusIfLost(() => bar.current);
  }, [phase]);
  if (!progress && !report && selection.selected.size === 0) return null;
  return (
    <section ref={bar} className="selection-bar" aria-label="Selected tasks" tabIndex={-1}>
      {report && <NotDone report={report} close={closeReport} />}
      {progress ? <Running progress={progress} stop={stop} /> : <Actions {...{ selection, changes, choose }} />}
      <p className="visually-hidden" role="status">
        {progress && `${progress.doing} ${progress.total} tasks.${waitText(progress)}`}
        {report?.summary}
      </p>
    </section>
  );
}

function Actions({ selection, changes, choose }: Props) {
  const { selected, clear } = selection;
  const canReadAgents = useScope('agents:read');
  const [isDeleting, setDeleting] = useState(false);
  if (selected.size === 0) return null;
  const tasks = selected.size === 1 ? '1 task' : `${selected.size} tasks`;
  return (
    <div className="selection-actions">
      <strong>{selected.size} selected</strong>
      <button type="button" onClick={() => choose('status')}>
        Move to…
      </button>
      {canReadAgents && (
        <button type="button" onClick={() => choose('assignedAgent')}>
          Assign…
        </button>
      )}
      <button type="button" onClick={() => choose('priority')}>
        Priority…
      </button>
      <button type="button" className="destructive" onClick={() => setDeleting(true)}>
        Delete…
      </button>
      <button type="button" className="quiet" onClick={clear}>
        Clear
      </button>
      <ConfirmDialog
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${tasks}?`}
        label={`Delete ${tasks}`}
        isDestructive
        act={async () => changes.run({ kind: 'delete' }, [...selected.values()])}
      >
        <p>{selected.size === 1 ? 'The task is' : `All ${tasks} are`} deleted permanently.</p>
      </ConfirmDialog>
    </div>
  );
}

function waitText({ waitSeconds }: Progress): string {
  return waitSeconds === 0 ? '' : ` The service is busy: all requests wait for ${waitSeconds} s.`;
}

function Running({ progress, stop }: { progress: Progress; stop: () => void }) {
  const { doing, ended, total, isStopping } = progress;
  return (
    <div className="selection-actions">
      <strong>
        {doing}: {ended} of {total}
      </strong>
      <progress aria-label={doing} value={ended} max={total} />
      <button type="button" disabled={isStopping} onClick={stop}>
        Stop
      </button>
      <span className="muted">{isStopping ? 'Requests that are under way are ended.' : waitText(progress)}</span>
    </div>
  );
}

/** The result of an action that was not done with all tasks. These tasks are still selected. */
function NotDone({ report: { summary, failed }, close }: { report: Report; close: () => void }) {
  return (
    <div className="selection-report">
      <div>
        <p>
          <strong>{summary}</strong>
        </p>
        {failed.length > 0 && (
          <ul>
            {failed.map(({ task, reason }) => (
              <li key={task.id}>
                <TaskLink id={task.id} title={task.title} /> <span>{reason}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      <button type="button" className="quiet" aria-label="Close" onClick={close}>
        ×
      </button>
    </div>
  );
}

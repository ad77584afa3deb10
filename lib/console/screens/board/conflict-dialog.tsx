import { Modal } from '../../components/dialogs/dialog.tsx';
import type { Conflict } from './change-task.ts';
import { type SeenTask, statusLabels } from './tasks.ts';

/** What the dialog compares, by the names that it shows. */
const fields: Readonly<Record<string, (task: SeenTask) => string>> = {
  Title: ({ title }) => title,
  Status: ({ status }) => statusLabels[status],
  Worker: ({ claim }) => claim?.worker ?? 'none',
  Priority: ({ priority }) => priority,
  Agent: ({ assignedAgent }) => assignedAgent ?? 'none',
  Project: ({ projectId }) => projectId ?? 'none',
  Description: ({ description }) => description || 'none',
  Dependencies: ({ dependsOn }) =>
    dependsOn.map((one) => (typeof one === 'string' ? one : one.id)).join(', ') || 'none',
};

/** Shows the version that the user has seen beside the current one, and asks which to keep. */
export function ConflictDialog(props: { conflict: Conflict; overwrite: () => void; dismiss: () => void }) {
  const { conflict, overwrite, dismiss } = props;
  const { seen, now, patch } = conflict;
  const rows = Object.entries(fields).filter(
    ([name, textOf]) => name === 'Title' || name === 'Status' || textOf(seen) !== textOf(now),
  );
  return (
    <Modal title="The task was changed in the meantime" open onClose={dismiss}>
      <div className="form">
        <div className="conflict">
          <table>
            <thead>
              <tr>
                <td />
                <th>You saw</th>
                <th>Now</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(([name, textOf]) => (
                <tr key={name} className={textOf(seen) === textOf(now) ? undefined : 'different'}>
                  <th scope="row">{name}</th>
                  <td>{textOf(seen)}</td>
                  <td>{textOf(now)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <div className="actions">
          <button type="button" className="primary" onClick={overwrite}>
            {Object.keys(patch).join() === 'status' ? 'Move anyway' : 'Save anyway'}
          </button>
          <button type="button" data-harmless onClick={dismiss}>
            Keep theirs
          </button>
        </div>
      </div>
    </Modal>
  );
}

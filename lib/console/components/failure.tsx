import { CrewboardError } from '../../client/client.ts';
import { messageOf } from './format/message-of.ts';

/** Shows why a part of a screen has no data, or why a form was not accepted, with the problem of each field. */
export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { details: all = [], requestId } = error instanceof CrewboardError ? error : {};
  // The message names the worker that has claimed a task.
  const details = all.filter(({ worker }) => worker === undefined);
  return (
    <div role="alert" className="failure">
      <p>{messageOf(error)}</p>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {requestId !== undefined && (
        <p className="muted">
          Request <code>{requestId}</code>
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Retry
        </button>
      )}
    </div>
  );
}

import { CrewboardError } from '../../client/client.ts';

/** Shows why a part of a screen has no data, or why a form was not accepted, with the problem of each field. */
export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { details = [], requestId } = error instanceof CrewboardError ? error : {};
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

/** Returns the text of an error for people. A file of an older page is missing after an upgrade of the service. */
export function messageOf(error: unknown): string {
  if (error instanceof CrewboardError) return error.message;
  if (error instanceof TypeError && /import/i.test(error.message))
    return 'The service has a newer version of the console. Reload the page.';
  return error instanceof Error ? error.message : String(error);
}

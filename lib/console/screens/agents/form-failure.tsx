import { CrewboardError } from '../../../client/client.ts';
import { Failure } from '../../components/failure.tsx';

/** Shows why the service did not accept a form, and what is wrong with each field. */
export function FormFailure({ error }: { error: unknown }) {
  const details = error instanceof CrewboardError ? error.details : [];
  return (
    <div className="form-failure">
      <Failure error={error} />
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

import type { AttemptDetail } from '../../../../client/operations.ts';
import { indented } from '../../../components/format/indented.ts';
import { printable } from '../../../components/format/printable.ts';
import { durationText } from '../../../components/format/time-text.ts';
import { Status } from '../../../components/page.tsx';
import { TextBlock } from '../../../components/text-block.tsx';
import { Ago } from '../../../components/time.tsx';

const phases = [
  ['dns', 'DNS'],
  ['connect', 'Connect'],
  ['tls', 'TLS'],
  ['firstByte', 'First byte'],
] as const;

/** An attempt of a delivery: its time in phases, its request and its response. */
export function Attempt({ attempt, isOpen }: { attempt: AttemptDetail; isOpen: boolean }) {
  const { error, hint, httpStatus, durationMs, address } = attempt;
  return (
    <li className="panel attempt">
      <div className="attempt-head">
        <strong>Attempt {attempt.attempt}</strong>
        <Status value={error === undefined ? 'delivered' : 'failed'} />
        {httpStatus !== 0 && <span>HTTP {httpStatus}</span>}
        <span className="muted">{durationText(durationMs)}</span>
        <span className="muted">
          <Ago at={attempt.deliveredAt} />
        </span>
      </div>
      {error !== undefined && <p className="failing breaking">{error}</p>}
      {hint === 'unsigned' && (
        <p>
          The attempt was not signed: the webhook has no secret. “Rotate the secret…” sets the one that the receiver
          expects.
        </p>
      )}
      <Phases attempt={attempt} />
      {httpStatus !== 0 && (
        <details open={isOpen}>
          <summary>Response</summary>
          <Headers headers={attempt.responseHeaders} missing="No response headers are stored." />
          {attempt.responseBody ? (
            <TextBlock
              title="Response body"
              text={attempt.responseBody}
              shown={printable(indented(attempt.responseBody))}
            />
          ) : (
            <p className="muted">The response body is empty or not stored.</p>
          )}
          {attempt.truncated && <p className="muted">Only the first 4 KiB are stored.</p>}
        </details>
      )}
      <details>
        <summary>Request headers</summary>
        {address !== undefined && <p className="muted">Sent to {address}, without the signatures:</p>}
        <Headers headers={attempt.requestHeaders} missing="The headers are not stored." />
      </details>
    </li>
  );
}

/** The phases of an attempt as a bar, and in words. */
function Phases({ attempt: { phases: measured = {}, durationMs } }: { attempt: AttemptDetail }) {
  const known = phases.flatMap(([name, label]) => {
    const milliseconds = measured[name];
    return milliseconds === undefined ? [] : [{ name, label, milliseconds }];
  });
  const rest = Math.max(durationMs - known.reduce((sum, { milliseconds }) => sum + milliseconds, 0), 0);
  if (known.length === 0) return null;
  const parts = rest > 0 ? [...known, { name: 'rest', label: 'Other', milliseconds: rest }] : known;
  return (
    <div className="phases">
      <div className="phase-bar" aria-hidden="true">
        {parts.map(({ name, milliseconds }) => (
          <span key={name} className={`phase-${name}`} style={{ flexGrow: Math.max(milliseconds, 0.5) }} />
        ))}
      </div>
      <ul>
        {parts.map(({ name, label, milliseconds }) => (
          <li key={name}>
            <i className={`phase-${name}`} />
            {label} <span className="muted">{durationText(milliseconds)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Headers({ headers, missing }: { headers: Record<string, string> | null; missing: string }) {
  const entries = Object.entries(headers ?? {});
  if (entries.length === 0) return <p className="muted">{missing}</p>;
  return (
    <dl className="facts headers">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{printable(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

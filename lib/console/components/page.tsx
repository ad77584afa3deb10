import type { ReactNode } from 'react';
import { runState, type StatedRun } from './format/run-state.ts';
import { statusText } from './format/status-text.ts';
import { useTitle } from './hooks/use-title.ts';

type HeadProps = {
  title: string;
  /** What the screen is about, such as `Webhook`, if the title names one of several. */
  kind?: string;
  status?: ReactNode;
  /** What is below the title, such as an id. */
  detail?: ReactNode;
  path?: ReactNode;
  children?: ReactNode;
};

/**
 * The head of a screen: its title with the status of what it shows, the links to the screens that it belongs to, and its
 * actions. The page has its title too.
 */
export function PageHead({ title, kind, status, detail, path, children }: HeadProps) {
  useTitle(kind === undefined || kind === title ? title : `${kind}: ${title}`);
  return (
    <div className="page-head">
      <div className="page-title">
        {path && (
          <nav aria-label="Path" className="path">
            {path}
          </nav>
        )}
        <h1>
          {title} {typeof status === 'string' ? <Status value={status} /> : status}
        </h1>
        {detail && <p className="page-detail muted">{detail}</p>}
      </div>
      <div className="actions">{children}</div>
    </div>
  );
}

/** A list or a screen without content, and the first action there. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Grey rows in the place of a list that is loading. They have the height of its rows, so nothing moves. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike
        <div key={at} />
      ))}
    </div>
  );
}

/** A status with its colour: of a task, an execution, a delivery or a webhook. The text carries the meaning. */
export function Status({ value }: { value: string }) {
  return <span className={`status status-${value}`}>{statusText(value)}</span>;
}

/** How an execution is or has ended, with the gates that failed. */
export function RunStatus({ run }: { run: StatedRun }) {
  const { text, short, color } = runState(run);
  return (
    <span className={`status status-${color}`}>
      <span>
        <span className="status-start">{text.slice(0, -short.length)}</span>
        {short}
      </span>
    </span>
  );
}

/** Returns the prefix of an id and its last characters, which are random. */
export function shortId(id: string): string {
  return `${id.slice(0, id.indexOf('_'))}…${id.slice(-6)}`;
}

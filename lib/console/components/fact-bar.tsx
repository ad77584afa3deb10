import type { ReactNode } from 'react';

/** The facts of what a screen shows, as names and values beside each other. Its children are facts. */
export function FactBar({ children }: { children: ReactNode }) {
  return <dl className="panel fact-bar">{children}</dl>;
}

/** A fact of a bar. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

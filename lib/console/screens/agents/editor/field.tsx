import { type ReactNode, useId } from 'react';
import type { AgentValues } from '../agent-fields.ts';

/** Why the service does not accept fields, by their names. */
export type Problems = Readonly<Record<string, string | undefined>>;

/** What every group of fields gets. */
export type FieldsProps = { values: AgentValues; problems: Problems; change: (changes: Partial<AgentValues>) => void };

/** The attributes of an input that connect it with its label, its help and its problem. */
type Described = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean };

type FieldProps = {
  label: string;
  /** The id of the text that helps. */
  help?: string;
  problem: string | undefined;
  children: (described: Described) => ReactNode;
};

/** An input with its label, and below it why the service does not accept its value. */
export function Field({ label, help, problem, children }: FieldProps) {
  const id = useId();
  const isInvalid = problem !== undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': [help, isInvalid && `${id}-problem`].filter(Boolean).join(' ') || undefined,
        'aria-invalid': isInvalid,
      })}
      {isInvalid && (
        <p id={`${id}-problem`} className="failing field-help">
          {problem}
        </p>
      )}
    </div>
  );
}

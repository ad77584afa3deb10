import { useId } from 'react';
import { agentCategories, agentStatuses, editedFields, highestLimits, standardLimits } from '../agent-fields.ts';
import { CapabilitiesField } from './capabilities-field.tsx';
import { ConductFields } from './conduct-fields.tsx';
import { Field, type FieldsProps } from './field.tsx';

/** The long texts of an agent. */
export function TextFields({ values, problems, change }: FieldsProps) {
  return (
    <div className="form">
      <Field
        label="System prompt: instructions for the task. Each change makes a version."
        problem={problems.systemPrompt}
      >
        {(described) => (
          <textarea
            {...described}
            className="mono"
            rows={14}
            maxLength={50_000}
            spellCheck={false}
            value={values.systemPrompt}
            onChange={({ target }) => change({ systemPrompt: target.value })}
          />
        )}
      </Field>
      <Field label="Soul: values, style and limits. Self-improvement does not change it." problem={problems.soul}>
        {(described) => (
          <textarea
            {...described}
            className="mono"
            rows={6}
            maxLength={50_000}
            spellCheck={false}
            value={values.soul}
            onChange={({ target }) => change({ soul: target.value })}
          />
        )}
      </Field>
    </div>
  );
}

/** The other fields of an agent. */
export function FactFields({ values, problems, change }: FieldsProps) {
  return (
    <div className="form">
      <Field label="Display name" problem={problems.displayName}>
        {(described) => (
          <input
            {...described}
            required
            maxLength={200}
            value={values.displayName}
            onChange={({ target }) => change({ displayName: target.value })}
          />
        )}
      </Field>
      <Field label="Description" problem={problems.description}>
        {(described) => (
          <textarea
            {...described}
            rows={3}
            maxLength={10_000}
            value={values.description}
            onChange={({ target }) => change({ description: target.value })}
          />
        )}
      </Field>
      <div className="field-pair">
        <Choice label="Status" values={agentStatuses} value={values.status} choose={(status) => change({ status })} />
        <Choice
          label="Category"
          values={agentCategories}
          value={values.category}
          choose={(category) => change({ category })}
        />
      </div>
      <Field label="Model; empty for the default model" problem={problems.model}>
        {(described) => (
          <input
            {...described}
            className="mono"
            maxLength={256}
            value={values.model}
            onChange={({ target }) => change({ model: target.value })}
          />
        )}
      </Field>
      <LimitFields {...{ values, problems, change }} />
      <CapabilitiesField values={values.capabilities} change={(capabilities) => change({ capabilities })} />
      {problems.capabilities && <p className="failing">{problems.capabilities}</p>}
      <ConductFields {...{ values, problems, change }} />
    </div>
  );
}

/** The limits of an agent's executions. The browser checks the range; the service checks it again. */
function LimitFields({ values, problems, change }: FieldsProps) {
  const help = useId();
  const whole = (value: number) => value.toLocaleString('en');
  return (
    <div className="form">
      <div className="field-pair">
        {(['maxSteps', 'maxTokens'] as const).map((field) => (
          <Field key={field} label={editedFields[field]} help={help} problem={problems[field]}>
            {(described) => (
              <input
                {...described}
                type="number"
                min={1}
                max={highestLimits[field]}
                placeholder="default"
                value={values[field]}
                onChange={({ target }) => change({ [field]: target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      <p id={help} className="muted field-help">
        The most that a run may use: 1 to {whole(highestLimits.maxSteps)} calls of the model and of tools, and 1 to{' '}
        {whole(highestLimits.maxTokens)} tokens. If empty, the limits of the deployment apply, which are{' '}
        {whole(standardLimits.maxSteps)} and {whole(standardLimits.maxTokens)} by default. Numbers above them have no
        effect.
      </p>
    </div>
  );
}

type ChoiceProps<Value> = {
  label: string;
  values: readonly Value[];
  value: Value;
  choose: (value: Value) => void;
};

function Choice<Value extends string>({ label, values, value, choose }: ChoiceProps<Value>) {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => choose(target.value as Value)}>
        {values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

import { type ReactNode, useId } from 'react';
import { useScope } from '../../../session.ts';
import { conductNumbers, editedFields } from '../agent-fields.ts';
import { Field, type FieldsProps } from './field.tsx';

/** How an agent works on its tasks: whether the service starts it, and what happens before and after its executions. */
export function ConductFields({ values, problems, change }: FieldsProps) {
  const [canAccept, canRun] = [useScope('tasks:write'), useScope('agents:execute')];
  const areNumbersShown = values.autoRun || problems.maxRunning !== undefined || problems.autoRetry !== undefined;
  return (
    <fieldset className="checks conduct">
      <legend>Its tasks</legend>
      <Switch
        label={editedFields.autoRun}
        isOn={values.autoRun}
        // Whoever may change the agent may switch it off.
        isDisabled={!canRun && !values.autoRun}
        set={(autoRun) => change({ autoRun })}
        help={
          <>
            The service runs the agent on each task that is assigned to it and ready, without a request.
            {!canRun && ' To switch it on, your access token needs the scope agents:execute.'}
          </>
        }
      />
      {areNumbersShown && (
        <div className="field-pair">
          {(['maxRunning', 'autoRetry'] as const).map((field) => {
            const { least, highest, standard } = conductNumbers[field];
            return (
              <Field key={field} label={`${editedFields[field]}, ${least} to ${highest}`} problem={problems[field]}>
                {(described) => (
                  <input
                    {...described}
                    type="number"
                    min={least}
                    max={highest}
                    placeholder={String(standard)}
                    value={values[field]}
                    onChange={({ target }) => change({ [field]: target.value })}
                  />
                )}
              </Field>
            );
          })}
        </div>
      )}
      <Switch
        label={editedFields.autoAccept}
        isOn={values.autoAccept}
        isDisabled={!canAccept && !values.autoAccept}
        set={(autoAccept) => change({ autoAccept })}
        help={
          <>
            A task is done if both quality gates pass. No person reads the output before the tasks that depend on it
            start and get it.
            {!canAccept && ' To switch it on, your access token needs the scope tasks:write.'}
          </>
        }
      />
      <Switch
        label={editedFields.dependencyResults}
        isOn={values.dependencyResults}
        set={(dependencyResults) => change({ dependencyResults })}
        help="Its model reads the outputs of the finished tasks that a task depends on."
      />
    </fieldset>
  );
}

type SwitchProps = {
  label: string;
  isOn: boolean;
  isDisabled?: boolean;
  set: (isOn: boolean) => void;
  help: ReactNode;
};

/** A checkbox with its label, and below it what it means. */
function Switch({ label, isOn, isDisabled = false, set, help }: SwitchProps) {
  const id = useId();
  return (
    <div>
      <label>
        <input
          type="checkbox"
          checked={isOn}
          disabled={isDisabled}
          aria-describedby={id}
          onChange={({ target }) => set(target.checked)}
        />
        <span>{label}</span>
      </label>
      <p id={id} className="muted field-help">
        {help}
      </p>
    </div>
  );
}

import { useState } from 'react';
import { useScope } from '../../../session.ts';
import { toolCapabilities } from '../agent-fields.ts';

type Props = { values: readonly string[]; change: (values: string[]) => void };

/** The capabilities of an agent: a checkbox for each that lets its model call tools, and labels of any text. */
export function CapabilitiesField({ values, change }: Props) {
  const set = (one: string, isOn: boolean) =>
    change(isOn ? [...values.filter((other) => other !== one), one] : values.filter((other) => other !== one));
  return (
    <div className="form">
      <fieldset className="checks">
        <legend>The model can</legend>
        {Object.entries(toolCapabilities).map(([one, meaning]) => (
          <label key={one}>
            <input type="checkbox" checked={values.includes(one)} onChange={({ target }) => set(one, target.checked)} />
            <span>{meaning}</span>
            <code className="muted">{one}</code>
          </label>
        ))}
      </fieldset>
      <LabelsField values={values.filter((one) => !(one in toolCapabilities))} set={set} />
    </div>
  );
}

/** Labels that are removed by their buttons, and an input for another one; the labels alone for a token that may not change them. */
function LabelsField({ values, set }: { values: readonly string[]; set: (one: string, isOn: boolean) => void }) {
  const canWrite = useScope('agents:write');
  const [entered, setEntered] = useState('');
  const add = () => {
    const label = entered.trim();
    if (label !== '') set(label, true);
    setEntered('');
  };
  return (
    <div className="field">
      <span>Other capabilities, which are labels</span>
      {values.length > 0 && (
        <ul className="labels">
          {values.map((one) => (
            <li key={one} className="label">
              <span className="ellipsis">{one}</span>
              {canWrite && (
                <button type="button" aria-label={`Remove ${one}`} onClick={() => set(one, false)}>
                  ×
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {values.length === 0 && !canWrite && <span className="muted">none</span>}
      {canWrite && (
        <div className="input-row">
          <input
            aria-label="New label"
            maxLength={64}
            value={entered}
            onChange={({ target }) => setEntered(target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              add();
            }}
          />
          <button type="button" onClick={add}>
            Add label
          </button>
        </div>
      )}
    </div>
  );
}

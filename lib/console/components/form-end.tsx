import { Failure } from './failure.tsx';

type Props = {
  /** The label of the button that submits. */
  label: string;
  isDisabled: boolean;
  error?: unknown;
  /** Closes the form without a change; absent if only its dialog does. */
  cancel?: () => void;
};

/** The end of a form in a dialog: why it was not accepted, and its buttons. */
export function FormEnd({ label, isDisabled, error, cancel }: Props) {
  return (
    <>
      {error != null && <Failure error={error} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={isDisabled}>
          {label}
        </button>
        {cancel && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
    </>
  );
}

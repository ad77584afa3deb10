import { Failure } from '../failure.tsx';

type Props = {
  /** The label of the button that submits. */
  label: string;
  isDisabled: boolean;
  error?: unknown;
  /** Closes the form without a change; absent if only its dialog does. */
  cancel?: () => void;
  /** Drops what was entered and closes the form; absent while there is nothing to drop. */
  discard?: (() => void) | undefined;
};

/** The end of a form in a dialog: why it was not accepted, and its buttons. */
export function FormEnd({ label, isDisabled, error, cancel, discard }: Props) {
  return (
    <>
      {error != null && <Failure error={error} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={isDisabled}>
          {label}
        </button>
        {discard ? (
          <>
            <button type="button" onClick={discard}>
              Discard
            </button>
            <span className="muted">Your draft is kept in this tab.</span>
          </>
        ) : (
          cancel && (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )
        )}
      </div>
    </>
  );
}

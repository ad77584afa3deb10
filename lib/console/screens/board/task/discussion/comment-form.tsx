import type { FormEvent } from 'react';
import { FormEnd } from '../../../../components/dialogs/form-end.tsx';

type Props = {
  /** The label of the field. */
  name: string;
  /** What is entered so far. */
  entered: string;
  enter: (text: string) => void;
  /** The label of the button that saves. */
  label: string;
  isDisabled: boolean;
  error: unknown;
  save: (text: string) => void;
  cancel?: () => void;
};

/** A form for the text of a comment. */
export function CommentForm({ name, entered, enter, label, isDisabled, error, save, cancel }: Props) {
  const comment = entered.trim();
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    save(comment);
  }
  return (
    <form className="form" onSubmit={submit}>
      <label className="field">
        <span>{name}</span>
        <textarea rows={3} maxLength={10_000} value={entered} onChange={({ target }) => enter(target.value)} />
      </label>
      <FormEnd label={label} isDisabled={isDisabled || comment === ''} error={error} {...(cancel && { cancel })} />
    </form>
  );
}

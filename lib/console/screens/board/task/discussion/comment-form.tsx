import type { FormEvent } from 'react';
import { FormEnd } from '../../../../components/form-end.tsx';

type Props = {
  /** The label of the field. */
  name: string;
  text: string;
  setText: (text: string) => void;
  /** The label of the button that saves. */
  label: string;
  isDisabled: boolean;
  error: unknown;
  save: (text: string) => void;
  cancel?: () => void;
};

/** A form for the text of a comment. */
export function CommentForm({ name, text, setText, label, isDisabled, error, save, cancel }: Props) {
  const comment = text.trim();
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    save(comment);
  }
  return (
    <form className="form" onSubmit={submit}>
      <label className="field">
        <span>{name}</span>
        <textarea rows={3} maxLength={10_000} value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <FormEnd label={label} isDisabled={isDisabled || comment === ''} error={error} {...(cancel && { cancel })} />
    </form>
  );
}

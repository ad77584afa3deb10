import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Failure } from '../failure.tsx';
import { Modal } from './dialog.tsx';

type Question = {
  title: string;
  /** The label of the button that confirms. */
  label: string;
  /** The label of the button that does not confirm. */
  keep?: string;
  isDestructive?: boolean;
  act: () => Promise<unknown>;
  children: ReactNode;
};

/** A dialog that asks before an action. It stays open while the action runs, and shows its error. */
export function ConfirmDialog({ open, onClose, ...question }: Question & { open: boolean; onClose: () => void }) {
  return (
    <Modal title={question.title} open={open} onClose={onClose}>
      <Confirmation {...question} close={onClose} />
    </Modal>
  );
}

/** A button whose action needs a confirmation. Its label is `button`. A quiet one is for an action that is seldom needed. */
export function ConfirmAction({ button, isQuiet, ...question }: Question & { button: string; isQuiet?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className={isQuiet ? 'quiet' : question.isDestructive ? 'destructive' : undefined}
        onClick={() => setOpen(true)}
      >
        {button}
      </button>
      <ConfirmDialog {...question} open={isOpen} onClose={() => setOpen(false)} />
    </>
  );
}

function Confirmation(props: Omit<Question, 'title'> & { close: () => void }) {
  const { label, keep = 'Cancel', isDestructive, act, children, close } = props;
  const action = useMutation({ mutationFn: act, onSuccess: close });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        action.mutate();
      }}
    >
      {children}
      {action.isError && <Failure error={action.error} />}
      <div className="actions">
        <button type="submit" className={isDestructive ? 'destructive' : 'primary'} disabled={action.isPending}>
          {label}
        </button>
        <button type="button" data-harmless onClick={close}>
          {keep}
        </button>
      </div>
    </form>
  );
}

import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Modal } from '../../components/dialog.tsx';
import { Failure } from '../../components/failure.tsx';

type Props = {
  /** The label of the button that opens the dialog and of the button that confirms. */
  label: string;
  title: string;
  busyLabel: string;
  className?: string;
  act: () => Promise<void>;
  children: ReactNode;
};

/** A button whose action needs a confirmation. The dialog stays open while the action runs, and shows its error. */
export function ConfirmAction({ label, title, busyLabel, className, act, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const action = useMutation({ mutationFn: act, onSuccess: () => setOpen(false) });
  return (
    <>
      <button
        type="button"
        className={className}
        onClick={() => {
          action.reset();
          setOpen(true);
        }}
      >
        {label}
      </button>
      <Modal title={title} open={isOpen} onClose={() => setOpen(false)}>
        <div className="form">
          {children}
          {action.isError && <Failure error={action.error} />}
          <div className="actions form-end">
            <button type="button" onClick={() => setOpen(false)}>
              Cancel
            </button>
            <button type="button" className="primary" disabled={action.isPending} onClick={() => action.mutate()}>
              {action.isPending ? busyLabel : label}
            </button>
          </div>
        </div>
      </Modal>
    </>
  );
}

import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

type Props = { title: string; open: boolean; onClose: () => void; children: ReactNode };

/** A modal dialog. Escape and a click beside it close it. */
export function Modal({ title, open, onClose, children }: Props) {
  return <Sheet {...{ title, open, onClose, children }} className="modal" />;
}

/** A modal panel at the right side of the screen; on a phone it covers the screen. */
export function SidePanel({ title, open, onClose, children }: Props) {
  return <Sheet {...{ title, open, onClose, children }} className="side-panel" />;
}

function Sheet({ title, open, onClose, children, className }: Props & { className: string }) {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={className}>
          <div className="sheet-head">
            <Dialog.Title>{title}</Dialog.Title>
            <Dialog.Close aria-label="Close">×</Dialog.Close>
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

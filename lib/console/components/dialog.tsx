import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';

type Props = { title: string; open: boolean; onClose: () => void; children: ReactNode };

/** A modal dialog. Escape and a click beside it close it. */
export function Modal({ title, open, onClose, children }: Props) {
  return <Sheet {...{ title, open, onClose, children }} className="modal" />;
}

/** A modal panel at the right side of the screen; on a phone it covers the screen. `beside`: what is beside its title. */
export function SidePanel({ title, open, onClose, children, beside }: Props & { beside: ReactNode }) {
  return <Sheet {...{ title, open, onClose, children, beside }} className="side-panel" />;
}

function Sheet({
  title,
  open,
  onClose,
  children,
  beside,
  className,
}: Props & { beside?: ReactNode; className: string }) {
  const popup = useRef<HTMLDivElement>(null);
  // A field that the user is about to fill in, or the harmless button of a question; not the button that closes.
  const firstFocus = () =>
    popup.current?.querySelector<HTMLElement>('form :is(input, select, textarea), [data-harmless]');
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup
          ref={popup}
          className={className}
          // With a focused field, a phone would show its keyboard over the dialog.
          initialFocus={(type) => (type === 'touch' ? popup.current : (firstFocus() ?? popup.current))}
        >
          <div className="sheet-head">
            <Dialog.Title>{title}</Dialog.Title>
            {beside}
            <Dialog.Close aria-label="Close">×</Dialog.Close>
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useRef, useState } from 'react';
import { useIsBeside } from '../hooks/use-is-beside.ts';

type Props = { title: string; open: boolean; onClose: () => void; children: ReactNode };

/**
 * A modal dialog.
 *
 * @param props.onClose called by Escape, by a click beside the dialog and by the button of its head; if unset, they do nothing
 */
export function Modal({ title, open, onClose, children }: Omit<Props, 'onClose'> & Partial<Pick<Props, 'onClose'>>) {
  const popup = useRef<HTMLDivElement>(null);
  // A field that the user is about to fill in, or the harmless button of a question; not the button that closes.
  const firstFocus = () =>
    popup.current?.querySelector<HTMLElement>('form :is(input, select, textarea), [data-harmless]');
  return (
    <Dialog.Root
      open={open}
      disablePointerDismissal={onClose === undefined}
      onOpenChange={(isOpen) => !isOpen && onClose?.()}
    >
      <Dialog.Portal>
        {/* Without `forceRender`, a dialog that a panel or another dialog opens would have none. */}
        <Dialog.Backdrop className="backdrop" forceRender />
        <Dialog.Popup
          ref={popup}
          className="modal"
          // With a focused field, a phone would show its keyboard over the dialog.
          initialFocus={(type) => (type === 'touch' ? popup.current : (firstFocus() ?? popup.current))}
        >
          <Head title={title} canClose={onClose !== undefined} />
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/**
 * A panel beside the content of a screen, which stays usable. On a screen without room for both it is modal, and covers the content
 * from the right side. Escape closes it.
 *
 * @param props.beside what is beside its title
 */
export function SidePanel({ title, onClose, children, beside }: Omit<Props, 'open'> & { beside: ReactNode }) {
  const popup = useRef<HTMLDivElement>(null);
  // The same place in both cases: what is typed into the panel stays when the window gets narrower.
  const [place, setPlace] = useState<HTMLDivElement | null>(null);
  const isBeside = useIsBeside();
  return (
    <div className="panel-place" ref={setPlace}>
      <Dialog.Root
        open
        modal={!isBeside}
        disablePointerDismissal={isBeside}
        onOpenChange={(isOpen, details) => {
          if (isOpen) return;
          // Then the key is for what is in front.
          if (isBehind(popup.current)) details.cancel();
          else onClose();
        }}
      >
        <Dialog.Portal container={place}>
          {!isBeside && <Dialog.Backdrop className="backdrop" />}
          <Dialog.Popup ref={popup} className={isBeside ? 'side-panel beside' : 'side-panel'} initialFocus={popup}>
            <Head title={title} beside={beside} />
            {children}
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </div>
  );
}

/** Returns whether another dialog, a menu, a popover or the choices of a field are in front of a panel: Escape closes them. */
function isBehind(panel: HTMLElement | null): boolean {
  return [...document.querySelectorAll('[role=dialog], [role=menu], .choices-menu, :popover-open')].some(
    (one) => one !== panel,
  );
}

function Head({ title, beside, canClose = true }: { title: string; beside?: ReactNode; canClose?: boolean }) {
  return (
    <div className="sheet-head">
      <Dialog.Title>{title}</Dialog.Title>
      {beside}
      {canClose && (
        <Dialog.Close className="quiet" aria-label="Close">
          ×
        </Dialog.Close>
      )}
    </div>
  );
}

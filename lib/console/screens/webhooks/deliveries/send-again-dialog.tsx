import { ConfirmDialog } from '../../../components/dialogs/confirm.tsx';
import type { Sendable } from './use-send-again.ts';

type Props = {
  /** The deliveries in question; without any, the dialog is closed. */
  deliveries: readonly Sendable[];
  send: (deliveries: readonly Sendable[]) => Promise<unknown>;
  close: () => void;
};

/**
 * Returns whether deliveries are sent again only after a question: the receiver has one of them already, or more events could be
 * sent than were selected.
 */
export function needsQuestion(deliveries: readonly Sendable[]): boolean {
  return numberOf(deliveries, 'delivered') > 0 || numberOf(deliveries, 'skipped') > 1;
}

/** The question before deliveries are sent again. */
export function SendAgainDialog({ deliveries: asked, send, close }: Props) {
  const [delivered, skipped] = [numberOf(asked, 'delivered'), numberOf(asked, 'skipped')];
  return (
    <ConfirmDialog
      title={asked.length === 1 ? 'Send the delivery again' : `Send ${asked.length} deliveries again`}
      label="Send again"
      act={() => send(asked)}
      open={asked.length > 0}
      onClose={close}
    >
      {delivered > 0 && (
        <p>
          {asked.length === 1
            ? 'The receiver already has this delivery.'
            : `The receiver already has ${delivered} of them.`}{' '}
          It gets the same event again, with the same delivery id.
        </p>
      )}
      {skipped > 1 && (
        <p>
          {skipped} of them were skipped in a pause. A recovery sends all skipped events from the oldest to the newest
          of them, also those that are not selected.
        </p>
      )}
    </ConfirmDialog>
  );
}

function numberOf(deliveries: readonly Sendable[], state: Sendable['state']): number {
  return deliveries.filter((one) => one.state === state).length;
}

import { useState } from 'react';
import type { Delivery } from '../../../../client/operations.ts';
import { useClient } from '../../../session.ts';
import { SendAgainDialog } from './send-again-dialog.tsx';
import { actionOn, type Sendable, useSendAgain } from './use-send-again.ts';

/** A button that sends a delivery of a webhook again, by its state, and explains why that is not possible now. */
export function SendAgain({ id, delivery }: { id: string; delivery: Delivery }) {
  const client = useClient();
  const [asked, setAsked] = useState<readonly Sendable[]>([]);
  const { send, isSending, problems } = useSendAgain(id, () => {});
  const { deliveryId, eventId, state, event } = delivery;
  const label = actionOn(state);
  if (label === undefined) return null;
  const problem = problems.get(deliveryId);
  const act = async () => {
    // Only a skipped event is found by its time.
    const occurredAt =
      state === 'skipped' && eventId ? (await client.getEvent({ params: { id: eventId } })).data.occurredAt : '';
    const sendable = { deliveryId, state, event, occurredAt };
    if (state === 'delivered') setAsked([sendable]);
    else await send([sendable]);
  };
  return (
    <>
      <button type="button" className="primary" disabled={isSending} onClick={() => void act()}>
        {label}
      </button>
      {problem !== undefined && (
        <span role="alert" className="failing">
          {problem}
        </span>
      )}
      <SendAgainDialog deliveries={asked} send={send} close={() => setAsked([])} />
    </>
  );
}

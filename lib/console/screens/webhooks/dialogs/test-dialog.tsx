import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { type EventName, eventNames, type Webhook } from '../../../../client/operations.ts';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { Failure } from '../../../components/failure.tsx';
import { durationText } from '../../../components/format/time-text.ts';
import { Status } from '../../../components/page.tsx';
import { useClient } from '../../../session.ts';

type Props = { webhook: Webhook; open: boolean; onClose: () => void };

/** The dialog that sends a test event and shows what the receiver responded. */
export function TestDialog({ webhook, open, onClose }: Props) {
  return (
    <Modal title="Send a test event" open={open} onClose={onClose}>
      <Test webhook={webhook} />
    </Modal>
  );
}

function Test({ webhook: { id, events } }: { webhook: Webhook }) {
  const client = useClient();
  const queries = useQueryClient();
  const [event, setEvent] = useState<EventName>(events[0] ?? 'task.created');
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => client.testWebhook({ params: { id }, body: { event } }),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['webhooks'] }),
        queries.invalidateQueries({ queryKey: ['webhook-health'] }),
      ]),
  });
  const submit = (submitted: FormEvent<HTMLFormElement>) => {
    submitted.preventDefault();
    mutate();
  };
  return (
    <form className="form" onSubmit={submit}>
      <p className="muted">It is signed and recorded like any other delivery, but never retried.</p>
      <label className="field">
        <span>Event</span>
        <select value={event} onChange={({ target }) => setEvent(target.value as EventName)}>
          {eventNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <div className="actions">
        <button type="submit" className="primary" disabled={isPending}>
          {isPending ? 'Sending…' : 'Send'}
        </button>
      </div>
      {error && <Failure error={error} />}
      <div role="status">
        {data && !isPending && (
          <p>
            <Status value={data.data.error === undefined ? 'delivered' : 'failed'} />{' '}
            {data.data.error ?? `The receiver responded ${data.data.httpStatus}`} in{' '}
            {durationText(data.data.durationMs)}.{' '}
            <Link to="/webhooks/$id/deliveries/$deliveryId" params={{ id, deliveryId: data.data.deliveryId }}>
              Open the delivery
            </Link>
          </p>
        )}
      </div>
    </form>
  );
}

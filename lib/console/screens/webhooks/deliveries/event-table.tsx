import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EventOfWebhook } from '../../../../client/operations.ts';
import { Status } from '../../../components/page.tsx';
import { Ago, useNow } from '../../../components/time.tsx';
import { useScope } from '../../../session.ts';
import { EventSubject } from './event-subject.tsx';
import { needsQuestion, SendAgainDialog } from './send-again-dialog.tsx';
import { actionOn, type Sendable, useSendAgain } from './use-send-again.ts';

type Props = { id: string; events: readonly EventOfWebhook[]; recovers: (recoveryId: string) => void };

/** Events of a webhook, one a row, which is a link to the delivery and its attempts. Selected rows are sent again together. */
export function EventTable({ id, events, recovers }: Props) {
  const canWrite = useScope('webhooks:write');
  const { send, isSending, problems } = useSendAgain(id, recovers);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<readonly Sendable[]>([]);
  const sendable = events.filter(({ state }) => actionOn(state) !== undefined);
  const chosen = sendable.filter(({ deliveryId }) => selected.has(deliveryId));
  const act = (deliveries: readonly Sendable[]) => {
    if (needsQuestion(deliveries)) setAsked(deliveries);
    else void send(deliveries).then(() => setSelected(new Set()));
  };
  const toggle = (deliveryId: string) =>
    setSelected(
      (before) =>
        new Set(before.has(deliveryId) ? [...before].filter((one) => one !== deliveryId) : [...before, deliveryId]),
    );
  const isAll = chosen.length > 0 && chosen.length === sendable.length;
  return (
    <>
      <div className="table fitted">
        <table className="event-states linked-rows stacked" aria-label="Events">
          <thead>
            <tr>
              {canWrite && (
                <th className="select">
                  <label className="select-box">
                    <input
                      type="checkbox"
                      aria-label="Select all"
                      checked={isAll}
                      disabled={sendable.length === 0}
                      onChange={() => setSelected(new Set(isAll ? [] : sendable.map(({ deliveryId }) => deliveryId)))}
                    />
                  </label>
                </th>
              )}
              <th>State</th>
              <th>Event</th>
              <th>Subject</th>
              <th className="number if-medium">HTTP</th>
              <th className="number if-wide">Attempts</th>
              <th>Result</th>
              {canWrite && (
                <th>
                  <span className="visually-hidden">Action</span>
                </th>
              )}
              <th className="number">Time</th>
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <EventRow
                key={event.eventId}
                id={id}
                event={event}
                problem={problems.get(event.deliveryId)}
                actions={
                  canWrite
                    ? {
                        isSelected: selected.has(event.deliveryId),
                        toggle: () => toggle(event.deliveryId),
                        send: () => act([event]),
                        isSending,
                      }
                    : undefined
                }
              />
            ))}
          </tbody>
        </table>
      </div>
      {chosen.length > 0 && (
        <section className="panel selection" aria-label="Selected events">
          <span>{chosen.length} selected</span>
          <button type="button" className="primary" disabled={isSending} onClick={() => act(chosen)}>
            Send selected again
          </button>
          <button type="button" className="quiet" onClick={() => setSelected(new Set())}>
            Clear selection
          </button>
        </section>
      )}
      <SendAgainDialog
        deliveries={asked}
        send={async (deliveries) => {
          await send(deliveries);
          setSelected(new Set());
        }}
        close={() => setAsked([])}
      />
    </>
  );
}

type RowActions = { isSelected: boolean; toggle: () => void; send: () => void; isSending: boolean };

function EventRow(props: {
  id: string;
  event: EventOfWebhook;
  problem: string | undefined;
  actions: RowActions | undefined;
}) {
  const { id, problem, actions } = props;
  const { deliveryId, event, state, httpStatus, attempts, occurredAt } = props.event;
  const label = actionOn(state);
  return (
    <>
      <tr>
        {actions && (
          <td className="select">
            <label className="select-box">
              <input
                type="checkbox"
                aria-label={`Select ${event} ${deliveryId}`}
                checked={actions.isSelected}
                disabled={label === undefined}
                onChange={actions.toggle}
              />
            </label>
          </td>
        )}
        <td className="state">
          <Status value={state} />
        </td>
        <td className="what ellipsis">
          <Link className="row-link" to="/webhooks/$id/deliveries/$deliveryId" params={{ id, deliveryId }}>
            {event}
          </Link>
        </td>
        <td className="subject ellipsis">
          <EventSubject event={props.event} />
        </td>
        <td className="number if-medium">{httpStatus === 0 ? <span className="muted">none</span> : httpStatus}</td>
        <td className="number if-wide">{attempts}</td>
        <td className="wide muted">
          <Result event={props.event} />
        </td>
        {actions && (
          <td className="action">
            {label !== undefined && (
              <button
                type="button"
                // The receiver has it already, so this is seldom needed.
                className={state === 'delivered' ? 'quiet on-demand' : undefined}
                disabled={actions.isSending}
                onClick={actions.send}
              >
                {label}
              </button>
            )}
          </td>
        )}
        <td className="number muted when">
          <Ago at={occurredAt} />
        </td>
      </tr>
      {problem !== undefined && (
        <tr className="problem">
          <td colSpan={9}>
            <span role="alert" className="failing">
              {problem}
            </span>
          </td>
        </tr>
      )}
    </>
  );
}

/** When the next attempt is due, the result of the last one, and what may help. */
function Result({ event: { state, error, hint, nextAttemptAt } }: { event: EventOfWebhook }) {
  const text = [
    error,
    hint === 'unsigned' && 'Not signed: the webhook has no secret.',
    state === 'skipped' && 'The webhook was paused.',
  ]
    .filter(Boolean)
    .join(' ');
  if (text === '' && nextAttemptAt === undefined) return null;
  return (
    <span title={text}>
      {nextAttemptAt !== undefined && <NextAttempt at={nextAttemptAt} />} {text}
    </span>
  );
}

function NextAttempt({ at }: { at: string }) {
  const now = useNow();
  if (Date.parse(at) <= now) return 'An attempt is due, or is running.';
  return (
    <>
      Next attempt <Ago at={at} />.
    </>
  );
}

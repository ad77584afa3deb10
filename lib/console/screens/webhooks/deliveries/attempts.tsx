import { Link } from '@tanstack/react-router';
import type { DeliveryRecord } from '../../../../client/operations.ts';
import { durationText } from '../../../components/format/time-text.ts';
import { Status } from '../../../components/page.tsx';
import { Ago } from '../../../components/time.tsx';

/** Attempts, one a row, which is a link to the delivery. */
export function Attempts({ id, attempts }: { id: string; attempts: readonly DeliveryRecord[] }) {
  return (
    <div className="table fitted">
      <table className="deliveries linked-rows stacked" aria-label="Attempts">
        <thead>
          <tr>
            <th>Status</th>
            <th>Event</th>
            <th className="number">HTTP</th>
            <th className="number if-wide">Attempt</th>
            <th className="number if-wide">Duration</th>
            <th>Error</th>
            <th className="number">Time</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map(({ deliveryId, error, ...one }) => (
            <tr key={one.id}>
              <td>
                <Status value={error === undefined ? 'delivered' : 'failed'} />
              </td>
              <td className="what ellipsis">
                <Link className="row-link" to="/webhooks/$id/deliveries/$deliveryId" params={{ id, deliveryId }}>
                  {one.event}
                </Link>
                {one.test && <span className="muted"> test</span>}
              </td>
              <td className={error === undefined ? 'number http' : 'number if-medium'}>
                {one.httpStatus || <span className="muted">none</span>}
              </td>
              <td className="number if-wide">{one.attempt}</td>
              <td className="number if-wide">{durationText(one.durationMs)}</td>
              <td className="wide muted" title={error}>
                {error}
              </td>
              <td className="number muted when">
                <Ago at={one.deliveredAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

import { Link, useSearch } from '@tanstack/react-router';
import { AttemptList } from './attempt-list.tsx';
import { EventList } from './event-list.tsx';

/**
 * The deliveries of a webhook: its events with their states, or all attempts. The view is in the URL; links of earlier versions
 * have a status of attempts only.
 *
 * @param recovers gets the id of a recovery that sends skipped events
 */
export function Deliveries({ id, recovers }: { id: string; recovers: (recoveryId: string) => void }) {
  const { view, status } = useSearch({ from: '/webhooks/$id' });
  const showsAttempts = view === 'attempts' || status !== undefined;
  const linkTo = (label: string, isCurrent: boolean, search: { view?: string }) => (
    <Link
      to="/webhooks/$id"
      params={{ id }}
      search={search}
      replace
      className={isCurrent ? 'segment current' : 'segment'}
      aria-current={isCurrent ? 'page' : undefined}
    >
      {label}
    </Link>
  );
  return (
    <section aria-labelledby="deliveries">
      <div className="section-head">
        <h2 id="deliveries">Deliveries</h2>
        <nav className="segments" aria-label="View of the deliveries">
          {linkTo('Events', !showsAttempts, {})}
          {linkTo('Attempts', showsAttempts, { view: 'attempts' })}
        </nav>
      </div>
      {showsAttempts ? <AttemptList id={id} /> : <EventList id={id} recovers={recovers} />}
    </section>
  );
}

import { exactTime } from '../components/format/exact-time.ts';
import { useNow } from '../components/time.tsx';
import type { Outage } from './live.ts';

const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** Says above all screens that they are not updated: since when, why, and when the console tries again. */
export function OutageBar({
  outage: { since, reason, nextAt, isTrying },
  retry,
}: {
  outage: Outage;
  retry: () => void;
}) {
  const now = useNow();
  const at = new Date(since).toISOString();
  const seconds = Math.ceil((nextAt - now) / 1_000);
  return (
    <section className="outage" aria-label="Connection">
      <p role="alert">
        <strong>{reason}</strong> Nothing is updated since{' '}
        <time dateTime={at} title={exactTime(at)}>
          {timeOfDay.format(since)}
        </time>
        .
      </p>
      {/* It changes each second, so it is not read out. */}
      <span className="outage-next">{isTrying || seconds <= 0 ? 'Trying again…' : `Trying again in ${seconds} s`}</span>
      <button type="button" disabled={isTrying} onClick={retry}>
        Try now
      </button>
    </section>
  );
}

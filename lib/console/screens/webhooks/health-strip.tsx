import { useQuery } from '@tanstack/react-query';
import { useNow } from '../../components/time.tsx';
import { useClient } from '../../session.ts';
import { attemptsIntervalMs, type Hour, hoursOf, numbersOf, sumOf } from './webhook-state.ts';

/**
 * Reads the numbers of attempts of a webhook in the last 24 hours. Its key is not that of the webhooks: an event would lead to a request for
 * each webhook on the screen, and before the attempts of the event. So it is read again every 30 seconds.
 */
function useHealth(id: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['webhook-health', id],
    queryFn: async ({ signal }) => {
      const { data } = await client.getWebhook({ params: { id }, query: { include: 'hours' }, signal });
      return data.hours ?? [];
    },
    staleTime: attemptsIntervalMs,
    refetchInterval: attemptsIntervalMs,
  });
}

const hourOfDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

function textOf(hour: Hour): string {
  const time = hourOfDay.format(hour.startsAt);
  if (hour.delivered === undefined) return `${time}: not known`;
  const failures = hour.failed > 0 ? ` (${hour.failures})` : '';
  return `${time}: ${numbersOf(hour.delivered, hour.failed)}${failures}`;
}

function classOf(hour: Hour): string {
  if (hour.delivered === undefined) return 'unknown';
  if (hour.failed > 0) return hour.delivered > 0 ? 'mixed' : 'failed';
  return hour.delivered > 0 ? 'delivered' : 'none';
}

/** The attempts of the last 24 hours, a bar for each hour, and their sum. It has its size before the attempts are read. */
export function HealthStrip({ id }: { id: string }) {
  const { data } = useHealth(id);
  const now = useNow();
  const hours = data && hoursOf(data, now);
  return (
    <div className="health-sum">
      <div className="health" role="img" aria-label="Attempts of each of the last 24 hours">
        {hours?.map((hour) => (
          <span key={hour.startsAt} className={classOf(hour)} title={textOf(hour)} />
        ))}
      </div>
      <span className="muted">{hours && sumOf(hours)}</span>
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import { useNow } from '../../components/time.tsx';
import { useClient } from '../../session.ts';
import { attemptsIntervalMs, type Hour, hoursOf, sumOf } from './webhook-state.ts';

/**
 * Reads the newest 100 attempts of a webhook. Its key is not that of the webhooks: an event would lead to a request for
 * each webhook on the screen, and before the attempts of the event. So it is read again every 30 seconds.
 */
function useHealth(id: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['webhook-health', id],
    queryFn: async ({ signal }) => {
      const { data, pagination } = await client.listDeliveries({ params: { id }, query: { limit: 100 }, signal });
      return { newest: data, isComplete: pagination.total <= data.length };
    },
    staleTime: attemptsIntervalMs,
    refetchInterval: attemptsIntervalMs,
  });
}

const hourOfDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

function textOf(hour: Hour): string {
  const time = hourOfDay.format(hour.startsAt);
  if (hour.delivered === undefined) return `${time}: not among the newest 100 attempts`;
  return `${time}: ${hour.delivered} delivered, ${hour.failed} failed`;
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
  const hours = data && hoursOf(data.newest, data.isComplete, now);
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

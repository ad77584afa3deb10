import { useQuery } from '@tanstack/react-query';
import { Failure } from '../../../components/failure.tsx';
import { Skeleton, Status } from '../../../components/page.tsx';
import { Ago } from '../../../components/time.tsx';
import { useClient } from '../../../session.ts';

/** The interval between two reads of a recovery, in milliseconds. Its progress changes about once a minute. */
const intervalMs = 5_000;

/** The progress of a recovery. It is read again until the recovery has completed. */
export function RecoveryProgress({ id, recoveryId }: { id: string; recoveryId: string }) {
  const client = useClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks', id, 'recoveries', recoveryId],
    queryFn: async ({ signal }) => (await client.getRecovery({ params: { id, recoveryId }, signal })).data,
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? intervalMs : false),
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={1} />;
  const ended = data.delivered + data.failed;
  return (
    <section className="panel recovery" aria-label="Recovery">
      <span>
        Recovery since <Ago at={data.since} />
      </span>
      <Status value={data.status} />
      <progress
        max={Math.max(data.matched, 1)}
        value={data.status === 'completed' ? Math.max(data.matched, 1) : ended}
      />
      <span className="muted">
        {data.matched} matched, {data.sent} sent, {data.delivered} delivered, {data.failed} failed
      </span>
    </section>
  );
}

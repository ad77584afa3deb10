import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Failure } from '../../../components/failure.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { Skeleton, Status } from '../../../components/page.tsx';
import { Ago } from '../../../components/time.tsx';
import { useClient, useScope } from '../../../session.ts';

/** The interval between two reads of a recovery, in milliseconds. */
const intervalMs = 2_000;

/** The progress of a recovery. It is read again until the recovery has ended. */
export function RecoveryProgress({ id, recoveryId }: { id: string; recoveryId: string }) {
  const client = useClient();
  const queries = useQueryClient();
  const { fail } = useNotices();
  const canWrite = useScope('webhooks:write');
  const queryKey = ['webhooks', id, 'recoveries', recoveryId];
  const cancel = useMutation({
    mutationFn: async () => (await client.cancelRecovery({ params: { id, recoveryId } })).data,
    onSuccess: (cancelled) => queries.setQueryData(queryKey, cancelled),
    onError: fail,
  });
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await client.getRecovery({ params: { id, recoveryId }, signal })).data,
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? intervalMs : false),
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={1} />;
  const ended = data.delivered + data.failed;
  return (
    <section className="panel recovery" aria-label="Recovery">
      <span>
        Recovery since <Ago at={data.since} />
      </span>
      <Status value={data.state} />
      <progress
        max={Math.max(data.matched, 1)}
        value={data.state === 'completed' ? Math.max(data.matched, 1) : ended}
      />
      <span className="muted">
        {data.matched} matched, {data.sent} sent, {data.delivered} delivered, {data.failed} failed
      </span>
      {canWrite && data.state === 'running' && (
        <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel the recovery
        </button>
      )}
    </section>
  );
}

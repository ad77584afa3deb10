import { type InfiniteData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Failure } from '../../../components/failure.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { Skeleton, Status } from '../../../components/page.tsx';
import { Ago } from '../../../components/time.tsx';
import { useClient, useScope } from '../../../session.ts';

/** The interval between two reads of a recovery, in milliseconds. */
const intervalMs = 2_000;

/** What the events without an attempt are, by the state of the recovery. Its `sent` also counts attempts that are only planned. */
const restOf = { running: 'to send', cancelled: 'not sent' } as const;

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
  const progress = data && [data.state, data.delivered, data.failed].join();
  useEffect(() => {
    // The events of the webhook change with the progress, and its facts at the end. A reader of earlier pages is not interrupted.
    if (progress === undefined) return;
    const isRunning = progress.startsWith('running');
    void queries.invalidateQueries({
      queryKey: isRunning ? ['webhooks', id, 'events'] : ['webhooks', id],
      predicate: ({ state }) => !isRunning || (state.data as Partial<InfiniteData<unknown>>)?.pages?.length === 1,
    });
  }, [queries, id, progress]);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={1} />;
  const ended = data.delivered + data.failed;
  return (
    <section className="panel recovery" aria-label="Recovery">
      <span>
        {data.auto ? 'Automatic recovery' : 'Recovery'} of events since <Ago at={data.since} />
      </span>
      <Status value={data.state} />
      <progress
        max={Math.max(data.matched, 1)}
        value={data.state === 'completed' ? Math.max(data.matched, 1) : ended}
      />
      <span className="muted">
        {data.matched} matched, {data.delivered} delivered, {data.failed} failed
        {data.state !== 'completed' && data.matched > ended && `, ${data.matched - ended} ${restOf[data.state]}`}
      </span>
      {canWrite && data.state === 'running' && (
        <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel the recovery
        </button>
      )}
    </section>
  );
}

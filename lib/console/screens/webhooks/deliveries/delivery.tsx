import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { CrewboardError } from '../../../../client/client.ts';
import type { Delivery as DeliveryData } from '../../../../client/operations.ts';
import { CopyAsCurl } from '../../../components/copy-as-curl.tsx';
import { Failure, messageOf } from '../../../components/failure.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { PageHead, Skeleton, Status } from '../../../components/page.tsx';
import { useNow } from '../../../components/time.tsx';
import { useClient, useScope } from '../../../session.ts';
import { Attempt, Text } from './attempt.tsx';

/** The interval between two reads of a delivery whose next attempt is due, in milliseconds. */
const intervalMs = 2_000;

/** A delivery with its attempts. */
export function Delivery() {
  const params = useParams({ from: '/webhooks/$id/deliveries/$deliveryId' });
  const client = useClient();
  const canWrite = useScope('webhooks:write');
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks', params.id, 'deliveries', params.deliveryId],
    queryFn: async ({ signal }) => (await client.getDelivery({ params, signal })).data,
    // Attempts have no events. A query does not read at an interval while the page is hidden.
    refetchInterval: ({ state }) => (state.data && isWaiting(state.data) ? intervalMs : false),
  });
  return (
    <>
      <nav aria-label="Path" className="path">
        <Link to="/webhooks">Webhooks</Link> /{' '}
        <Link to="/webhooks/$id" params={{ id: params.id }}>
          {params.id}
        </Link>
      </nav>
      <PageHead
        title={
          <span className="title-with-status">
            {data?.event ?? 'Delivery'} {data && <Status value={data.state} />}
          </span>
        }
      >
        <CopyAsCurl operation="getDelivery" request={{ params }} />
        {data && canWrite && !data.test && <SendAgain params={params} />}
      </PageHead>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={8} />}
      {data && (
        <>
          <dl className="facts webhook-facts">
            <dt>Delivery</dt>
            <dd>
              <code>{data.deliveryId}</code> {data.test && <span className="muted">a test event</span>}
            </dd>
            {data.eventId !== undefined && (
              <>
                <dt>Event</dt>
                <dd>
                  <code>{data.eventId}</code>
                </dd>
              </>
            )}
            <dt>Next attempt</dt>
            <dd>{isWaiting(data) ? <Countdown at={data.nextAttemptAt} /> : <span className="muted">none</span>}</dd>
          </dl>
          <section aria-labelledby="attempts">
            <h2 id="attempts" className="section-head">
              Attempts
            </h2>
            <ol className="attempts">
              {data.attempts.toReversed().map((attempt, at) => (
                <Attempt key={attempt.id} attempt={attempt} isOpen={at === 0} />
              ))}
            </ol>
            {data.attempts.length === 0 && <p className="muted">There is no attempt yet.</p>}
          </section>
          <section aria-labelledby="body">
            <h2 id="body" className="section-head">
              Request body
            </h2>
            <Text value={data.body} missing="There is no attempt yet, or the body is no longer stored." />
          </section>
        </>
      )}
    </>
  );
}

/** Whether another attempt is due. */
function isWaiting({ state }: DeliveryData): boolean {
  return state === 'pending' || state === 'retrying';
}

/** The time until the next attempt, to the second. */
function Countdown({ at }: { at: string | undefined }) {
  const now = useNow();
  if (at === undefined) return <span>is due</span>;
  const seconds = Math.ceil((Date.parse(at) - now) / 1_000);
  if (seconds <= 0) return <time dateTime={at}>is due, or is running</time>;
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const text = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return (
    <time dateTime={at} className="countdown" title={new Date(at).toLocaleString()}>
      in {text}
    </time>
  );
}

function SendAgain({ params }: { params: { id: string; deliveryId: string } }) {
  const client = useClient();
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const { mutate, isPending } = useMutation({
    mutationFn: () => client.redeliverDelivery({ params }),
    onSuccess: () => say('The delivery is sent again within about two minutes.'),
    onError: (error) => fail(new Error(explanationOf(error))),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks', params.id] }),
  });
  return (
    <button type="button" className="primary" disabled={isPending} onClick={() => mutate()}>
      Send again
    </button>
  );
}

/** Returns why a delivery cannot be sent again, and what to do. */
function explanationOf(error: unknown): string {
  if (!(error instanceof CrewboardError)) return messageOf(error);
  if (error.code === 'delivery_in_progress')
    return 'An attempt of this delivery is due or running. Wait for the next attempt; then send it again.';
  if (error.code === 'webhook_paused') return 'The webhook is paused. Resume it; then send the delivery again.';
  return messageOf(error);
}

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Delivery as DeliveryData } from '../../../../client/operations.ts';
import { CopyAsCurl } from '../../../components/copy-as-curl.tsx';
import { Failure } from '../../../components/failure.tsx';
import { indented } from '../../../components/format/indented.ts';
import { useWebhookName } from '../../../components/hooks/webhook-name.ts';
import { PageHead, Skeleton } from '../../../components/page.tsx';
import { TextBlock } from '../../../components/text-block.tsx';
import { useNow } from '../../../components/time.tsx';
import { useClient, useScope } from '../../../session.ts';
import { Attempt } from './attempt.tsx';
import { SendAgain } from './send-again.tsx';

/** The interval between two reads of a delivery whose next attempt is due, in milliseconds. */
const intervalMs = 2_000;

/** A delivery with its attempts. */
export function Delivery() {
  const params = useParams({ from: '/webhooks/$id/deliveries/$deliveryId' });
  const client = useClient();
  const canWrite = useScope('webhooks:write');
  const webhook = useWebhookName(params.id);
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks', params.id, 'deliveries', params.deliveryId],
    queryFn: async ({ signal }) => (await client.getDelivery({ params, signal })).data,
    // Attempts have no events. A query does not read at an interval while the page is hidden.
    refetchInterval: ({ state }) => (state.data && isWaiting(state.data) ? intervalMs : false),
  });
  return (
    <>
      <PageHead
        title={data?.event ?? 'Delivery'}
        kind="Delivery"
        status={data?.state}
        path={
          <>
            <Link to="/webhooks">Webhooks</Link> /{' '}
            <Link to="/webhooks/$id" params={{ id: params.id }} title={params.id}>
              {webhook}
            </Link>
          </>
        }
      >
        <CopyAsCurl operation="getDelivery" request={{ params }} />
        {data && canWrite && !data.test && <SendAgain id={params.id} delivery={data} />}
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
                  <Link to="/events" search={{ id: data.eventId }}>
                    <code>{data.eventId}</code>
                  </Link>
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
          <div className="delivery-body">
            {data.body ? (
              <TextBlock title="Request body" text={data.body} shown={indented(data.body)} />
            ) : (
              <p className="muted">There is no request body: no attempt was made, or it is no longer stored.</p>
            )}
          </div>
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

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Webhook } from '../../../client/operations.ts';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { Failure } from '../../components/failure.tsx';
import { Empty, PageHead, Skeleton, Status } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient, useScope } from '../../session.ts';
import { RegisterDialog } from './dialogs/register-dialog.tsx';
import { HealthStrip, useHealth } from './health-strip.tsx';
import { stateOf } from './webhook-state.ts';

/** The number of webhooks that are shown at first and added by a button: each needs a request for its health. */
const step = 10;

/** The list of webhooks. */
export function Webhooks() {
  const client = useClient();
  const canWrite = useScope('webhooks:write');
  const [registering, setRegistering] = useState(false);
  const [shown, setShown] = useState(step);
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks', 'list'],
    queryFn: async ({ signal }) => (await client.listWebhooks({ signal })).data,
  });
  const register = canWrite && (
    <button type="button" className="primary" onClick={() => setRegistering(true)}>
      Register a webhook
    </button>
  );
  return (
    <>
      <PageHead title="Webhooks">
        <CopyAsCurl operation="listWebhooks" request={{}} />
        {data && data.length > 0 && register}
      </PageHead>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton />}
      {data?.length === 0 && (
        <Empty title="No webhooks">
          <p>A webhook sends the events of tasks and agents to a URL, signed, with retries.</p>
          {register}
        </Empty>
      )}
      {data && data.length > 0 && (
        <ul className="rows webhook-rows" aria-label="Webhooks">
          {data.slice(0, shown).map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} />
          ))}
        </ul>
      )}
      {data && data.length > shown && (
        <button type="button" className="more" onClick={() => setShown(shown + step)}>
          Show {Math.min(step, data.length - shown)} more of {data.length}
        </button>
      )}
      <RegisterDialog open={registering} onClose={() => setRegistering(false)} />
    </>
  );
}

function WebhookRow({ webhook }: { webhook: Webhook }) {
  const health = useHealth(webhook.id);
  const { id, url, description, events, disabledReason, lastDeliveryAt } = webhook;
  return (
    <li>
      <span className="state">
        <Status value={stateOf(webhook, health.data?.newest[0]?.error !== undefined)} />
      </span>
      <span className="name">
        <Link to="/webhooks/$id" params={{ id }} className="ellipsis" title={url}>
          {url}
        </Link>
        <span className="muted ellipsis">
          {disabledReason ? 'Paused by the service: all deliveries failed. ' : ''}
          {description ?? events.join(', ')}
        </span>
      </span>
      <HealthStrip id={id} />
      <span className="when muted">{lastDeliveryAt ? <Ago at={lastDeliveryAt} /> : 'no deliveries'}</span>
    </li>
  );
}

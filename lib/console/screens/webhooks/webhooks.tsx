import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Webhook } from '../../../client/operations.ts';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { MissingDialog } from '../../components/dialogs/missing-scope.tsx';
import { Failure } from '../../components/failure.tsx';
import { useWebhooks } from '../../components/hooks/use-webhooks.ts';
import { webhookName } from '../../components/hooks/webhook-name.ts';
import { Empty, PageHead, Skeleton, Status } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient, useScope } from '../../session.ts';
import { RegisterDialog } from './dialogs/register-dialog.tsx';
import { HealthStrip } from './health-strip.tsx';
import { attemptsIntervalMs, stateOf } from './webhook-state.ts';

/** The number of webhooks that are shown at first and added by a button: each needs a request for its strip. */
const step = 10;

/** The list of webhooks. */
export function Webhooks() {
  const canWrite = useScope('webhooks:write');
  // The URL opens the dialog, so other screens can link to it.
  const isRegistering = useSearch({ from: '/webhooks' }).create !== undefined;
  const navigate = useNavigate();
  const show = (search: { create?: string }) => void navigate({ to: '/webhooks', search, replace: true });
  const [shown, setShown] = useState(step);
  const failingSince = useFailingSince();
  const { data, error, refetch } = useWebhooks();
  const register = canWrite && (
    <button type="button" className="primary" onClick={() => show({ create: 'webhook' })}>
      Register a webhook
    </button>
  );
  return (
    <>
      <PageHead title="Webhooks">
        <CopyAsCurl operation="listWebhooks" request={{ query: { include: 'health' } }} />
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
        <div className="table fitted">
          <table className="webhook-rows linked-rows stacked" aria-label="Webhooks">
            <thead>
              <tr>
                <th>State</th>
                <th>Webhook</th>
                <th>Last 24 hours</th>
                <th className="number">Last delivery</th>
              </tr>
            </thead>
            <tbody>
              {data.slice(0, shown).map((webhook) => (
                <WebhookRow key={webhook.id} webhook={webhook} failingSince={failingSince?.get(webhook.id)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data && data.length > shown && (
        <button type="button" className="more" onClick={() => setShown(shown + step)}>
          Show {Math.min(step, data.length - shown)} more of {data.length}
        </button>
      )}
      <RegisterDialog open={canWrite && isRegistering} onClose={() => show({})} />
      {isRegistering && !canWrite && (
        <MissingDialog title="Register a webhook" scopes={['webhooks:write']} onClose={() => show({})} />
      )}
    </>
  );
}

/**
 * Reads since when each webhook fails. The service reads the attempts to each webhook for that, so it is not read after
 * each event like the list, but every 30 seconds like the strips.
 */
function useFailingSince(): Map<string, string | undefined> | undefined {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['webhook-health'],
    queryFn: async ({ signal }) => {
      const { data } = await client.listWebhooks({ query: { include: 'health' }, signal });
      return new Map(data.map(({ id, failingSince }) => [id, failingSince]));
    },
    staleTime: attemptsIntervalMs,
    refetchInterval: attemptsIntervalMs,
  });
  return data;
}

function WebhookRow({ webhook, failingSince }: { webhook: Webhook; failingSince: string | undefined }) {
  const { id, url, events, disabledReason, lastDeliveryAt } = webhook;
  const state = stateOf(webhook, failingSince !== undefined);
  return (
    <tr>
      <td className="state">
        <Status value={state} />
        {state === 'failing' && failingSince && (
          <div className="muted">
            since <Ago at={failingSince} />
          </div>
        )}
      </td>
      <td className="wide name">
        <Link to="/webhooks/$id" params={{ id }} className="row-link" title={url}>
          {webhookName(webhook)}
        </Link>
        <div className="muted ellipsis">
          {disabledReason ? 'Paused by the service: all deliveries failed. ' : ''}
          {webhookName(webhook) === url ? events.join(', ') : url}
        </div>
      </td>
      <td>
        <HealthStrip id={id} />
      </td>
      <td className="number muted when">{lastDeliveryAt ? <Ago at={lastDeliveryAt} /> : 'none'}</td>
    </tr>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Client } from '../../../client/client.ts';
import type { Webhook } from '../../../client/operations.ts';
import { webhookName } from '../../components/hooks/webhook-name.ts';
import { Ago } from '../../components/time.tsx';
import { useClient } from '../../session.ts';
import { counted, Tile } from './tile.tsx';

/** The interval between two reads of the webhooks, in milliseconds. */
const intervalMs = 60_000;

/** The webhooks whose deliveries fail, and those that the service has paused because of that. */
export function ReceiversTile({ isLoading }: { isLoading: boolean }) {
  const client = useClient();
  const query = useQuery({
    // Not a noun of events: each event would lead to a read of the attempts to all webhooks.
    queryKey: ['failing receivers'],
    queryFn: ({ signal }) => readReceivers(client, signal),
    staleTime: intervalMs,
    refetchInterval: intervalMs,
  });
  return (
    <Tile title="Failing receivers" link={{ to: '/webhooks' }} query={query} isLoading={isLoading}>
      {({ total, failing }) => (
        <>
          <p className={failing.length > 0 ? 'figure failing' : 'figure'}>{failing.length}</p>
          {failing.length === 0 && (
            <p className="muted">
              {total === 0 ? 'No webhook is registered.' : `${counted(total, 'webhook')}, none fails.`}
            </p>
          )}
          <ul className="tile-list">
            {failing.slice(0, 3).map(({ id, url, description, disabledAt, failingSince }) => (
              <li key={id}>
                <Link className="ellipsis" to="/webhooks/$id" params={{ id }} title={url}>
                  {webhookName({ url, description })}
                </Link>
                <span className="muted">
                  {disabledAt ? (
                    'paused'
                  ) : (
                    <>
                      first failure <Ago at={failingSince as string} />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Tile>
  );
}

/** Reads the webhooks, and those of them that the service has paused or whose deliveries fail. */
async function readReceivers(client: Client, signal: AbortSignal): Promise<{ total: number; failing: Webhook[] }> {
  const { data: webhooks } = await client.listWebhooks({ query: { include: 'health' }, signal });
  const failing = webhooks.filter((webhook) => webhook.disabledReason ?? (webhook.active && webhook.failingSince));
  return { total: webhooks.length, failing };
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Webhook as WebhookData } from '../../../client/operations.ts';
import { ActionMenu } from '../../components/action-menu.tsx';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { Failure } from '../../components/failure.tsx';
import { webhookName } from '../../components/hooks/webhook-name.ts';
import { useNotices } from '../../components/notices.tsx';
import { PageHead, Skeleton } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient, useScope } from '../../session.ts';
import { Deliveries } from './deliveries/deliveries.tsx';
import { RecoveryProgress } from './deliveries/recovery-progress.tsx';
import { useShownRecovery } from './deliveries/use-shown-recovery.ts';
import { DeleteDialog } from './dialogs/delete-dialog.tsx';
import { EditDialog } from './dialogs/edit-dialog.tsx';
import { RecoverDialog } from './dialogs/recover-dialog.tsx';
import { RotateDialog } from './dialogs/rotate-dialog.tsx';
import { TestDialog } from './dialogs/test-dialog.tsx';
import { WebhookFacts } from './webhook-facts.tsx';
import { attemptsIntervalMs, missedSince, stateOf } from './webhook-state.ts';

const minute = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});

type OpenDialog = 'test' | 'edit' | 'rotate' | 'recover' | 'delete';

/** A webhook with its deliveries. */
export function Webhook() {
  const { id } = useParams({ from: '/webhooks/$id' });
  // Another webhook starts without the dialogs and the recovery of this one.
  return <WebhookScreen key={id} id={id} />;
}

function WebhookScreen({ id }: { id: string }) {
  const client = useClient();
  const canWrite = useScope('webhooks:write');
  const [dialog, setDialog] = useState<OpenDialog>();
  const [recoveryId, showRecovery] = useShownRecovery(id);
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks', id, 'facts'],
    queryFn: async ({ signal }) => {
      const { data, etag } = await client.getWebhook({ params: { id }, signal });
      return { webhook: data, etag };
    },
    refetchInterval: attemptsIntervalMs,
  });
  const webhook = data?.webhook;
  const close = () => setDialog(undefined);
  const dialogOf = (name: OpenDialog) => ({ open: dialog === name, onClose: close });
  return (
    <>
      <PageHead
        title={webhook ? webhookName(webhook) : 'Webhook'}
        kind="Webhook"
        detail={webhook && webhookName(webhook) !== webhook.url && webhook.url}
        status={webhook && stateOf(webhook, webhook.failingSince !== undefined)}
        path={<Link to="/webhooks">Webhooks</Link>}
      >
        <CopyAsCurl operation="getWebhook" request={{ params: { id } }} />
        {data && canWrite && (
          <>
            <button type="button" onClick={() => setDialog('test')}>
              Send test
            </button>
            <PauseButton id={id} active={data.webhook.active} etag={data.etag} />
            <ActionMenu
              label="More actions"
              actions={[
                { label: 'Edit…', run: () => setDialog('edit') },
                { label: 'Rotate the secret…', run: () => setDialog('rotate') },
                { label: 'Recover since…', run: () => setDialog('recover') },
                { label: 'Delete…', run: () => setDialog('delete'), isDestructive: true },
              ]}
            >
              ⋯
            </ActionMenu>
          </>
        )}
      </PageHead>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={5} />}
      {data && (
        <>
          <FailureNote webhook={data.webhook}>
            {canWrite && <Repair webhook={data.webhook} recover={() => setDialog('recover')} />}
          </FailureNote>
          <WebhookFacts webhook={data.webhook} />
          {recoveryId && <RecoveryProgress key={recoveryId} id={id} recoveryId={recoveryId} />}
          <Deliveries id={id} recovers={showRecovery} />
          <TestDialog webhook={data.webhook} {...dialogOf('test')} />
          <EditDialog {...data} {...dialogOf('edit')} />
          <RotateDialog id={id} {...dialogOf('rotate')} />
          <DeleteDialog {...data} {...dialogOf('delete')} />
          <RecoverDialog
            webhook={data.webhook}
            {...dialogOf('recover')}
            started={(started) => {
              showRecovery(started);
              close();
            }}
          />
        </>
      )}
    </>
  );
}

/** Since when a webhook fails or the service has paused it, with what to do about it. */
function FailureNote({
  webhook: { disabledAt, failingSince },
  children,
}: {
  webhook: WebhookData;
  children: ReactNode;
}) {
  const since = disabledAt ?? failingSince;
  if (since === undefined) return null;
  return (
    <div className="webhook-note">
      <p>
        {disabledAt ? 'Paused by the service ' : 'Failing since '}
        <Ago at={since} />
        {disabledAt && ', because all deliveries failed'}.
      </p>
      {children}
    </div>
  );
}

/** What to do about a webhook that fails or that the service has paused. */
function Repair({ webhook, recover }: { webhook: WebhookData; recover: () => void }) {
  const since = missedSince(webhook);
  if (since === undefined) return null;
  return (
    <div className="repair">
      <span>
        Repair the receiver{webhook.active ? '. Then' : ', then resume the webhook and'} send the events that it missed.
      </span>
      <button type="button" onClick={recover}>
        Recover since {minute.format(Date.parse(since))}
      </button>
    </div>
  );
}

function PauseButton({ id, active, etag }: { id: string; active: boolean; etag: string | undefined }) {
  const client = useClient();
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const { mutate, isPending } = useMutation({
    mutationFn: () => client.updateWebhook({ params: { id }, ifMatch: etag, body: { active: !active } }),
    onSuccess: () => say(active ? 'The webhook is paused. Its events are skipped.' : 'The webhook is active.'),
    onError: fail,
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  return (
    <button type="button" disabled={isPending} onClick={() => mutate()}>
      {active ? 'Pause' : 'Resume'}
    </button>
  );
}

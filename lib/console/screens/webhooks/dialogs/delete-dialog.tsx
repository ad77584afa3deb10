import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Webhook } from '../../../../client/operations.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { useClient } from '../../../session.ts';

type Props = { webhook: Webhook; etag: string | undefined; open: boolean; onClose: () => void };

/** The dialog that deletes a webhook after a confirmation. */
export function DeleteDialog({ webhook: { id, url }, etag, open, onClose }: Props) {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { say } = useNotices();
  return (
    <ConfirmDialog
      title="Delete the webhook"
      label="Delete the webhook"
      keep="Keep it"
      isDestructive
      act={async () => {
        await client.deleteWebhook({ params: { id }, ifMatch: etag });
        say('The webhook is deleted.');
        await navigate({ to: '/webhooks' });
        queries.removeQueries({ queryKey: ['webhooks', id] });
        await queries.invalidateQueries({ queryKey: ['webhooks', 'list'] });
      }}
      open={open}
      onClose={onClose}
    >
      <p>
        Scheduled retries to <strong className="breaking">{url}</strong> are not sent. Its deliveries can no longer be
        read.
      </p>
    </ConfirmDialog>
  );
}

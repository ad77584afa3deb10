import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Webhook } from '../../../client/operations.ts';
import { Modal } from '../../components/dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useClient } from '../../session.ts';

type Props = { webhook: Webhook; etag: string | undefined; open: boolean; onClose: () => void };

/** The dialog that deletes a webhook after a confirmation. */
export function DeleteDialog({ webhook: { id, url }, etag, open, onClose }: Props) {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { say } = useNotices();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => client.deleteWebhook({ params: { id }, ifMatch: etag }),
    onSuccess: async () => {
      say('The webhook is deleted.');
      await navigate({ to: '/webhooks' });
      queries.removeQueries({ queryKey: ['webhooks', id] });
      await queries.invalidateQueries({ queryKey: ['webhooks', 'list'] });
    },
  });
  return (
    <Modal title="Delete the webhook" open={open} onClose={onClose}>
      <div className="form">
        <p>
          Scheduled retries to <strong className="breaking">{url}</strong> are not sent. Its deliveries can no longer be
          read.
        </p>
        {error && <Failure error={error} />}
        <div className="actions">
          <button type="button" className="destructive" disabled={isPending} onClick={() => mutate()}>
            Delete the webhook
          </button>
          <button type="button" onClick={onClose}>
            Keep it
          </button>
        </div>
      </div>
    </Modal>
  );
}

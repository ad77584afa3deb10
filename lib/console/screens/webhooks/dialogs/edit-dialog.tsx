import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Webhook } from '../../../../client/operations.ts';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { useClient } from '../../../session.ts';
import { type WebhookFields, WebhookForm } from './webhook-form.tsx';

type Props = { webhook: Webhook; etag: string | undefined; open: boolean; onClose: () => void };

/** The dialog that changes a webhook. */
export function EditDialog({ open, onClose, ...rest }: Props) {
  return (
    <Modal title="Edit the webhook" open={open} onClose={onClose}>
      <Editor {...rest} onClose={onClose} />
    </Modal>
  );
}

function Editor({ webhook, etag, onClose }: Omit<Props, 'open'>) {
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  // The version that the form shows, although the webhook can be read again while the dialog is open.
  const [shown] = useState({ webhook, etag });
  const { mutate, error, isPending } = useMutation({
    mutationFn: ({ description, maxPerSecond, taskFilter, ...fields }: WebhookFields) =>
      client.updateWebhook({
        params: { id: webhook.id },
        ifMatch: shown.etag,
        // An empty field of the form clears that of the webhook.
        body: {
          ...fields,
          description: description ?? null,
          maxPerSecond: maxPerSecond ?? null,
          taskFilter: taskFilter ?? null,
        },
      }),
    onSuccess: () => {
      say('The webhook is changed.');
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  return <WebhookForm webhook={shown.webhook} action="Save" busy={isPending} error={error} submit={mutate} />;
}

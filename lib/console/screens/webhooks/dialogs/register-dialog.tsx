import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { useKeptDialog } from '../../../components/dialogs/kept-dialog.tsx';
import { useClient } from '../../../session.ts';
import { createSecret, SecretDialog } from './secret.tsx';
import { type WebhookFields, WebhookForm } from './webhook-form.tsx';

/** The dialog that registers a webhook with a new secret. The dialog of the secret follows, and then the webhook. */
export function RegisterDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Modal title="Register a webhook" open={open} onClose={onClose}>
      <Registration onClose={onClose} />
    </Modal>
  );
}

function Registration({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const showKept = useKeptDialog();
  const [secret] = useState(createSecret);
  const { mutate, error, isPending } = useMutation({
    mutationFn: (fields: WebhookFields) => client.registerWebhook({ body: { ...fields, secret } }),
    // Also if this dialog was closed before the response.
    onSuccess: ({ data: { id } }) => {
      onClose();
      const stored = () => {
        showKept();
        void navigate({ to: '/webhooks/$id', params: { id } });
      };
      showKept(
        <SecretDialog secret={secret} stored={stored}>
          <p>The webhook is registered. Its deliveries are signed with this secret.</p>
        </SecretDialog>,
      );
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
    },
  });
  return (
    <WebhookForm action="Register" busy={isPending} error={error} submit={mutate}>
      <p className="muted">A signing secret is generated in this browser and shown once.</p>
    </WebhookForm>
  );
}

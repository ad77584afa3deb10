import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Modal } from '../../../components/dialog.tsx';
import { useClient } from '../../../session.ts';
import { createSecret, NewSecret } from './secret.tsx';
import { type WebhookFields, WebhookForm } from './webhook-form.tsx';

/** The dialog that registers a webhook with a new secret, and then shows the secret once. */
export function RegisterDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Modal title="Register a webhook" open={open} onClose={onClose}>
      <Registration />
    </Modal>
  );
}

function Registration() {
  const client = useClient();
  const queries = useQueryClient();
  const [secret] = useState(createSecret);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (fields: WebhookFields) => client.registerWebhook({ body: { ...fields, secret } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  if (data)
    return (
      <NewSecret secret={secret}>
        <p>
          The webhook is registered. Its deliveries are signed with this secret.{' '}
          <Link to="/webhooks/$id" params={{ id: data.data.id }} replace>
            Open the webhook
          </Link>
        </p>
      </NewSecret>
    );
  return (
    <WebhookForm action="Register" busy={isPending} error={error} submit={mutate}>
      <p className="muted">A signing secret is generated in this browser and shown once.</p>
    </WebhookForm>
  );
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { FormEnd } from '../../../components/dialogs/form-end.tsx';
import { useKeptDialog } from '../../../components/dialogs/kept-dialog.tsx';
import { Ago } from '../../../components/time.tsx';
import { useClient } from '../../../session.ts';
import { createSecret, SecretDialog } from './secret.tsx';

const overlaps = [
  [0, 'End the replaced secret at once'],
  [3_600, 'One hour'],
  [86_400, 'One day'],
  [604_800, 'One week'],
] as const;

/** The overlap that is chosen at first: that of the API. */
const defaultOverlap = 86_400;

/** The dialog that replaces the secret of a webhook. The dialog of the new secret follows. */
export function RotateDialog({ id, open, onClose }: { id: string; open: boolean; onClose: () => void }) {
  return (
    <Modal title="Rotate the secret" open={open} onClose={onClose}>
      <Rotation id={id} onClose={onClose} />
    </Modal>
  );
}

function Rotation({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useClient();
  const queries = useQueryClient();
  const showKept = useKeptDialog();
  const [secret] = useState(createSecret);
  const { mutate, error, isPending } = useMutation({
    mutationFn: (overlapSeconds: number) =>
      client.rotateWebhookSecret({ params: { id }, body: { secret, overlapSeconds } }),
    // Also if this dialog was closed before the response.
    onSuccess: ({ data: { previousSecretEndsAt } }) => {
      onClose();
      showKept(
        <SecretDialog secret={secret} stored={() => showKept()}>
          <p>
            Deliveries are signed with the new secret.{' '}
            {previousSecretEndsAt && (
              <>
                The replaced one ends <Ago at={previousSecretEndsAt} />.
              </>
            )}
          </p>
        </SecretDialog>,
      );
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(Number(new FormData(event.currentTarget).get('overlap')));
  };
  return (
    <form className="form" onSubmit={submit}>
      <p>
        A new secret is generated in this browser and shown once. During the overlap, deliveries have both signatures.
      </p>
      <label className="field">
        <span>Overlap</span>
        <select name="overlap" defaultValue={defaultOverlap}>
          {overlaps.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <FormEnd label="Rotate" isDisabled={isPending} error={error} />
    </form>
  );
}

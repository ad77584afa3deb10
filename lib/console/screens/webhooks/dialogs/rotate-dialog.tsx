import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Modal } from '../../../components/dialog.tsx';
import { FormEnd } from '../../../components/form-end.tsx';
import { Ago } from '../../../components/time.tsx';
import { useClient } from '../../../session.ts';
import { createSecret, NewSecret } from './secret.tsx';

const overlaps = [
  [0, 'End the replaced secret at once'],
  [3_600, 'One hour'],
  [86_400, 'One day'],
  [604_800, 'One week'],
] as const;

/** The overlap that is chosen at first: that of the API. */
const defaultOverlap = 86_400;

/** The dialog that replaces the secret of a webhook, and then shows the new one once. */
export function RotateDialog({ id, open, onClose }: { id: string; open: boolean; onClose: () => void }) {
  return (
    <Modal title="Rotate the secret" open={open} onClose={onClose}>
      <Rotation id={id} />
    </Modal>
  );
}

function Rotation({ id }: { id: string }) {
  const client = useClient();
  const queries = useQueryClient();
  const [secret] = useState(createSecret);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (overlapSeconds: number) =>
      client.rotateWebhookSecret({ params: { id }, body: { secret, overlapSeconds } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  if (data) {
    const { previousSecretEndsAt } = data.data;
    return (
      <NewSecret secret={secret}>
        <p>
          Deliveries are signed with the new secret.{' '}
          {previousSecretEndsAt && (
            <>
              The replaced one ends <Ago at={previousSecretEndsAt} />.
            </>
          )}
        </p>
      </NewSecret>
    );
  }
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

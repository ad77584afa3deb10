import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Operations, Webhook } from '../../../../client/operations.ts';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { FormEnd } from '../../../components/dialogs/form-end.tsx';
import { type TimeRange, timesOf } from '../../../components/filters/time-range.ts';
import { TimeRangeFilter } from '../../../components/filters/time-range-filter.tsx';
import { useClient } from '../../../session.ts';
import { missedSince } from '../webhook-state.ts';

type Recovery = Operations['recoverWebhook']['request']['body'];
type Kind = NonNullable<Recovery['include']>[number];
type Counted = Operations['recoverWebhook']['data'];

const kinds: readonly [Kind, string][] = [
  ['exhausted', 'Exhausted: all attempts failed'],
  ['skipped', 'Skipped: the webhook was paused'],
  ['retrying', 'Retrying: the next retry waits, and is made now'],
  ['never_sent', 'Never sent: the webhook was not subscribed yet'],
];

type Props = { webhook: Webhook; open: boolean; onClose: () => void; started: (recoveryId: string) => void };

/** The dialog that counts the events that a webhook missed, and then sends them. */
export function RecoverDialog({ open, onClose, ...rest }: Props) {
  return (
    <Modal title="Recover missed events" open={open} onClose={onClose}>
      <RecoveryForm {...rest} />
    </Modal>
  );
}

function RecoveryForm({ webhook, started }: Omit<Props, 'open' | 'onClose'>) {
  const client = useClient();
  const { id } = webhook;
  const [range, setRange] = useState<TimeRange>(() => ({ since: missedSince(webhook) ?? '24h' }));
  const [include, setInclude] = useState<readonly Kind[]>(['exhausted', 'skipped', 'retrying']);
  const count = useMutation({
    mutationFn: (body: Recovery) => client.recoverWebhook({ params: { id }, body: { ...body, dryRun: true } }),
  });
  const start = useMutation({
    mutationFn: (body: Recovery) => client.recoverWebhook({ params: { id }, body }),
    onSuccess: ({ data: { recoveryId } }) => recoveryId !== undefined && started(recoveryId),
  });
  // The recovery sends what was counted: a changed form must be counted again.
  const counted = count.data && count.variables;
  const matched = count.data?.data.matched;
  const change = (apply: () => void) => {
    apply();
    count.reset();
    start.reset();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (counted) start.mutate(counted);
    else {
      const { since = '', until = new Date().toISOString() } = timesOf(range, Date.now());
      count.mutate({ since, until, include: [...include] });
    }
  };
  return (
    <form className="form" onSubmit={submit}>
      <fieldset className="choices one-column">
        <legend>When the events occurred</legend>
        <TimeRangeFilter value={range} isRequired onChange={(chosen) => change(() => setRange(chosen))} />
      </fieldset>
      <fieldset className="choices one-column">
        <legend>Events to send</legend>
        {kinds.map(([kind, label]) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={include.includes(kind)}
              onChange={({ target }) =>
                change(() => setInclude(target.checked ? [...include, kind] : include.filter((one) => one !== kind)))
              }
            />
            {label}
          </label>
        ))}
      </fieldset>
      <p role="status" className="recovery-count">
        {matched === undefined
          ? 'Count the events first. Counting sends nothing.'
          : `${matched} ${matched === 1 ? 'event matches' : 'events match'}.${leftOutText(count.data?.data)}`}
      </p>
      <FormEnd
        label={counted ? `Send ${matched} ${matched === 1 ? 'event' : 'events'}` : 'Count the events'}
        isDisabled={count.isPending || start.isPending || include.length === 0 || matched === 0}
        error={count.error ?? start.error}
      />
    </form>
  );
}

/** Why events of the range are left out, for people. */
const reasons: Readonly<Record<keyof Counted['leftOut'], string>> = {
  delivered: 'were delivered',
  inProgress: 'are being sent',
  notIncluded: 'are of other kinds',
  notSubscribed: 'are not subscribed',
  filtered: 'are left out by the filter',
};

/** Returns why the other events of the range are left out, as a sentence; nothing if there are none. */
function leftOutText(counted: Counted | undefined): string {
  const parts = Object.entries(reasons).flatMap(([reason, text]) => {
    const number = counted?.leftOut[reason as keyof Counted['leftOut']] ?? 0;
    return number > 0 ? [`${number} ${text}`] : [];
  });
  return parts.length > 0 ? ` Of the others, ${parts.join(', ')}.` : '';
}

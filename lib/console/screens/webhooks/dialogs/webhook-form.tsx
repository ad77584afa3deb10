import { type FormEvent, type ReactNode, useId } from 'react';
import { type EventName, eventNames, type Webhook } from '../../../../client/operations.ts';
import { FormEnd } from '../../../components/dialogs/form-end.tsx';
import { highestRate } from '../webhook-state.ts';

/** What a form of a webhook has: all fields that a registration and an update share. Empty fields are absent. */
export type WebhookFields = Pick<
  Webhook,
  'url' | 'events' | 'description' | 'maxPerSecond' | 'taskFilter' | 'autoRecover'
>;

function fieldsOf(form: FormData): WebhookFields {
  const text = (name: string) => String(form.get(name) ?? '').trim() || undefined;
  const [description, projectId, assignedAgent, rate] = ['description', 'project', 'agent', 'rate'].map(text);
  return {
    url: text('url') ?? '',
    events: form.getAll('events') as EventName[],
    autoRecover: form.has('autoRecover'),
    ...(description && { description }),
    ...(rate && { maxPerSecond: Number(rate) }),
    ...((projectId || assignedAgent) && {
      taskFilter: { ...(projectId && { projectId }), ...(assignedAgent && { assignedAgent }) },
    }),
  };
}

type Props = {
  webhook?: Webhook;
  action: string;
  busy: boolean;
  error: Error | null;
  submit: (fields: WebhookFields) => void;
  children?: ReactNode;
};

/** The form of a webhook. Its values are read when it is sent. */
export function WebhookForm({ webhook, action, busy, error, submit, children }: Props) {
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    submit(fieldsOf(new FormData(event.currentTarget)));
  };
  return (
    <form className="form" onSubmit={send}>
      <Field label="URL" name="url" type="url" required value={webhook?.url} placeholder="https://example.com/hooks" />
      <fieldset className="choices">
        <legend>Events</legend>
        {eventNames.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              name="events"
              value={name}
              defaultChecked={webhook ? webhook.events.includes(name) : name.startsWith('task.')}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <Field label="Description" name="description" value={webhook?.description} />
      <div className="choices one-column">
        <label>
          <input
            type="checkbox"
            name="autoRecover"
            defaultChecked={webhook?.autoRecover}
            aria-describedby="auto-recover-help"
          />
          Recover missed events by itself
        </label>
        <p id="auto-recover-help" className="muted field-help">
          After a time in which deliveries failed, and when the webhook is resumed.
        </p>
      </div>
      <details open={webhook?.taskFilter !== undefined || webhook?.maxPerSecond !== undefined}>
        <summary>Limits</summary>
        <div className="form">
          <Field label="Only tasks of this project" name="project" value={webhook?.taskFilter?.projectId} />
          <Field label="Only tasks of this agent" name="agent" value={webhook?.taskFilter?.assignedAgent} />
          <Field
            label="Attempts per second"
            name="rate"
            type="number"
            min={1}
            max={highestRate}
            value={webhook?.maxPerSecond}
          />
        </div>
      </details>
      {children}
      <FormEnd label={action} isDisabled={busy} error={error} />
    </form>
  );
}

type FieldProps = {
  label: string;
  name: string;
  type?: string;
  value: string | number | undefined;
  required?: boolean;
  min?: number;
  max?: number;
  placeholder?: string;
};

function Field({ label, value, ...input }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} defaultValue={value} autoComplete="off" {...input} />
    </div>
  );
}

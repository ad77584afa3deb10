import type { ReactNode } from 'react';
import type { Webhook } from '../../../client/operations.ts';
import { Status } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { HealthStrip } from './health-strip.tsx';
import { stateOf } from './webhook-state.ts';

/** The facts of a webhook. `repair` follows its state. */
export function WebhookFacts({ webhook, repair }: { webhook: Webhook; repair: ReactNode }) {
  const { events, taskFilter, maxPerSecond, disabledAt, failingSince, signed, secretChangedAt } = webhook;
  const filter = [
    taskFilter?.projectId && `project ${taskFilter.projectId}`,
    taskFilter?.assignedAgent && `agent ${taskFilter.assignedAgent}`,
  ].filter(Boolean);
  return (
    <dl className="facts webhook-facts">
      <Fact label="State">
        <Status value={stateOf(webhook, failingSince !== undefined)} />
        {disabledAt && (
          <span className="muted">
            {' '}
            by the service <Ago at={disabledAt} />, because all deliveries failed
          </span>
        )}
        {failingSince && !disabledAt && (
          <span className="muted">
            {' '}
            since <Ago at={failingSince} />
          </span>
        )}
        {repair}
      </Fact>
      <Fact label="Last 24 hours">
        <HealthStrip id={webhook.id} />
      </Fact>
      <Fact label="Events">{events.join(', ')}</Fact>
      {filter.length > 0 && <Fact label="Only tasks of">{filter.join(', ')}</Fact>}
      <Fact label="Signed">
        {signed ? 'Yes' : 'No: the webhook has no secret'}
        {secretChangedAt && (
          <span className="muted">
            , secret set <Ago at={secretChangedAt} />
          </span>
        )}
      </Fact>
      {maxPerSecond !== undefined && <Fact label="Limit">{maxPerSecond} attempts per second</Fact>}
      <Fact label="Missed events">{webhook.autoRecover ? 'Recovered by itself' : 'Recovered only on request'}</Fact>
      <Fact label="Last success">{webhook.lastSuccessAt ? <Ago at={webhook.lastSuccessAt} /> : '–'}</Fact>
      <Fact label="Last failure">{webhook.lastFailureAt ? <Ago at={webhook.lastFailureAt} /> : '–'}</Fact>
      <Fact label="Registered">
        <Ago at={webhook.createdAt} />
      </Fact>
      <Fact label="Id">
        <code>{webhook.id}</code>
      </Fact>
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

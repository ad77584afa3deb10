import type { Webhook } from '../../../client/operations.ts';
import { CopyableId } from '../../components/copyable-id.tsx';
import { Fact, FactBar } from '../../components/fact-bar.tsx';
import { Ago } from '../../components/time.tsx';
import { HealthStrip } from './health-strip.tsx';

/** The facts of a webhook, beside its state. */
export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { id, events, taskFilter, maxPerSecond, signed, secretChangedAt, autoRecover } = webhook;
  const { lastSuccessAt, lastFailureAt, createdAt } = webhook;
  const filter = [
    taskFilter?.projectId && `project ${taskFilter.projectId}`,
    taskFilter?.assignedAgent && `agent ${taskFilter.assignedAgent}`,
  ].filter(Boolean);
  return (
    <FactBar>
      <Fact name="Last 24 hours">
        <HealthStrip id={id} />
      </Fact>
      <Fact name="Events">{events.join(', ')}</Fact>
      {filter.length > 0 && <Fact name="Only tasks of">{filter.join(', ')}</Fact>}
      <Fact name="Last success">{lastSuccessAt ? <Ago at={lastSuccessAt} /> : none}</Fact>
      <Fact name="Last failure">{lastFailureAt ? <Ago at={lastFailureAt} /> : none}</Fact>
      <Fact name="Signed">
        {signed ? 'Yes' : 'No: the webhook has no secret'}
        {secretChangedAt && (
          <span className="muted">
            , secret set <Ago at={secretChangedAt} />
          </span>
        )}
      </Fact>
      <Fact name="Missed events">{autoRecover ? 'Recovered by itself' : 'Recovered only on request'}</Fact>
      {maxPerSecond !== undefined && <Fact name="Limit">{maxPerSecond} attempts per second</Fact>}
      <Fact name="Registered">
        <Ago at={createdAt} />
      </Fact>
      <Fact name="Id">
        <CopyableId id={id} />
      </Fact>
    </FactBar>
  );
}

const none = <span className="muted">–</span>;

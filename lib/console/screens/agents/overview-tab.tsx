import { Link, useSearch } from '@tanstack/react-router';
import type { Agent, AgentMetrics, DailyMetrics, Period } from '../../../client/operations.ts';
import { Failure } from '../../components/failure.tsx';
import { durationText } from '../../components/format/time-text.ts';
import { Empty, Skeleton, Status } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useScope } from '../../session.ts';
import { successText } from './activity.tsx';
import { editedFields } from './agent-fields.ts';
import { useMetrics } from './agent-queries.ts';
import { DailyChart, type Series } from './daily-chart.tsx';

/** The periods of the charts, with their labels. */
const periods: Readonly<Record<Period, string>> = { '7d': '7 days', '30d': '30 days', '90d': '90 days' };

/** What an agent is, and what it did over a period. */
export function OverviewTab({ agent }: { agent: Agent }) {
  const { period: chosen } = useSearch({ from: '/agents/$name' });
  const period = (Object.keys(periods) as Period[]).find((one) => one === chosen) ?? '30d';
  const metrics = useMetrics(agent.name, period);
  return (
    <div className="agent-overview">
      <Facts agent={agent} />
      <section aria-labelledby="metrics-title">
        <div className="metrics-head">
          <h2 id="metrics-title">Runs</h2>
          <nav className="segments" aria-label="Period">
            {(Object.keys(periods) as Period[]).map((one) => (
              <Link
                key={one}
                to="/agents/$name"
                params={{ name: agent.name }}
                search={{ period: one }}
                className={one === period ? 'segment current' : 'segment'}
                aria-label={`Last ${periods[one]}`}
              >
                {periods[one]}
              </Link>
            ))}
          </nav>
        </div>
        {metrics.isPending ? (
          <Skeleton rows={10} />
        ) : metrics.isError ? (
          <Failure error={metrics.error} retry={() => void metrics.refetch()} />
        ) : metrics.data.executions.total === 0 ? (
          <NoRuns name={agent.name} period={periods[period]} />
        ) : (
          <Metrics metrics={metrics.data} />
        )}
      </section>
    </div>
  );
}

function Facts({ agent }: { agent: Agent }) {
  const { name, description, category, model, capabilities, maxSteps, maxTokens, isSystem, createdAt, updatedAt } =
    agent;
  return (
    <section className="panel agent-facts" aria-label="Facts">
      {description && <p className="agent-description">{description}</p>}
      <dl className="facts">
        <dt>Name</dt>
        <dd className="mono">{name}</dd>
        <dt>Status</dt>
        <dd>
          <Status value={agent.status} />
        </dd>
        <dt>Category</dt>
        <dd>
          {category}
          {isSystem && ' · system agent'}
        </dd>
        <dt>Model</dt>
        <dd className="mono">{model}</dd>
        <dt>Capabilities</dt>
        <dd>{capabilities.length === 0 ? 'none' : capabilities.join(', ')}</dd>
        {maxSteps !== undefined && (
          <>
            <dt>Step limit</dt>
            <dd>{whole(maxSteps)}</dd>
          </>
        )}
        {maxTokens !== undefined && (
          <>
            <dt>Token limit</dt>
            <dd>{whole(maxTokens)}</dd>
          </>
        )}
        <dt>{editedFields.autoRun}</dt>
        <dd>{agent.autoRun ? `yes, ${startsText(agent)}` : 'no'}</dd>
        <dt>{editedFields.autoAccept}</dt>
        <dd>{agent.autoAccept ? 'yes, if both gates pass' : 'no'}</dd>
        <dt>Dependencies</dt>
        <dd>{agent.dependencyResults ? 'gets their results' : 'does not get their results'}</dd>
        <dt>Created</dt>
        <dd>
          <Ago at={createdAt} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Ago at={updatedAt} />
        </dd>
      </dl>
    </section>
  );
}

/** Returns the numbers of an agent that starts by itself, such as `2 runs at a time, 1 retry`. */
function startsText({ maxRunning, autoRetry }: Agent): string {
  const runs = maxRunning === 1 ? '1 run at a time' : `${maxRunning} runs at a time`;
  return `${runs}, ${autoRetry === 0 ? 'no retry' : autoRetry === 1 ? '1 retry' : `${autoRetry} retries`}`;
}

function NoRuns({ name, period }: { name: string; period: string }) {
  const canExecute = useScope('agents:execute');
  return (
    <Empty title={`No runs in the last ${period}`}>
      {canExecute && (
        <Link to="/agents/$name" params={{ name }} search={{ tab: 'try' }} className="button">
          Try the agent
        </Link>
      )}
    </Empty>
  );
}

const whole = (value: number) => value.toLocaleString('en');

/** The series of the three charts. */
const runs: readonly Series[] = [
  { label: 'Runs', color: '--accent', read: ({ total }) => total, format: whole },
  { label: 'Failures', color: '--bad', read: ({ failed }) => failed, format: whole },
];
// The percentiles of a day without an execution that has ended are 0, which is no duration.
const durations: readonly Series[] = [
  { label: 'p50', color: '--accent', read: ({ p50DurationMs }) => p50DurationMs || null, format: durationText },
  { label: 'p95', color: '--warn', read: ({ p95DurationMs }) => p95DurationMs || null, format: durationText },
];
const tokens: readonly Series[] = [
  { label: 'Tokens', color: '--accent', read: (day: DailyMetrics) => day.tokens, format: whole },
];

function Metrics({ metrics: { executions, performance, tokens: used, series = [] } }: { metrics: AgentMetrics }) {
  return (
    <>
      <dl className="totals">
        <Total label="Runs" value={whole(executions.total)} />
        <Total label="Failures" value={whole(executions.failed)} />
        <Total label="Success rate" value={successText(executions)} />
        <Total label="p50 duration" value={durationText(performance.p50DurationMs)} />
        <Total label="p95 duration" value={durationText(performance.p95DurationMs)} />
        <Total label="Tokens" value={whole(used.total)} />
      </dl>
      <div className="charts">
        <DailyChart title="Runs a day" shape="bars" series={runs} days={series} />
        <DailyChart title="Duration" shape="lines" series={durations} days={series} />
        <DailyChart title="Tokens a day" shape="bars" series={tokens} days={series} />
      </div>
    </>
  );
}

function Total({ label, value }: { label: string; value: string }) {
  return (
    <div className="panel total">
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

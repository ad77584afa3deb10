import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Operations } from '../../../client/operations.ts';
import { statusText } from '../../components/format/status-text.ts';
import { RunTime } from '../../components/run-time.tsx';
import { useClient } from '../../session.ts';
import { runningExecutions, taskCounts, weekMetrics } from './queries.ts';
import { counted, Tile } from './tile.tsx';

type Loading = { isLoading: boolean };

/** The number of running executions, how many can run at the same time, and the newest of them. */
export function RunningTile({ isLoading }: Loading) {
  const client = useClient();
  const query = useQuery(runningExecutions(client));
  // The limit is with the metrics, which another tile reads too.
  const limit = useQuery(weekMetrics(client)).data?.runningLimit;
  return (
    <Tile title="Running" link={{ to: '/runs', search: { status: 'running' } }} query={query} isLoading={isLoading}>
      {({ data, pagination: { total } }) => (
        <>
          <p className="figure">
            {total.toLocaleString('en')}
            {limit !== undefined && <span className="of"> of {limit.toLocaleString('en')}</span>}
          </p>
          {total === 0 && <p className="muted">No agent is running.</p>}
          <ul className="tile-list">
            {data.map(({ id, agentName, startedAt }) => (
              <li key={id}>
                <Link className="ellipsis" to="/runs/$agent/$id" params={{ agent: agentName, id }}>
                  {agentName}
                </Link>
                <span className="muted">
                  <RunTime startedAt={startedAt} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Tile>
  );
}

/** The number of tasks of each status, in the order of the board. */
export function TasksTile({ isLoading }: Loading) {
  const query = useQuery(taskCounts(useClient()));
  return (
    <Tile title="Tasks" link={{ to: '/board' }} query={query} isLoading={isLoading}>
      {({ total, groups }) => (
        <>
          <p className="figure">{total.toLocaleString('en')}</p>
          <div className="share" aria-hidden="true">
            {groups
              .filter(({ count }) => count > 0)
              .map(({ value, count }) => (
                <span key={value} className={`dot-${value}`} style={{ flexGrow: count }} />
              ))}
          </div>
          <ul className="legend">
            {groups.map(({ value, count }) => (
              <li key={value}>
                <span className={`dot dot-${value}`} aria-hidden="true" />
                {value && statusText(value)} <span className="muted">{count.toLocaleString('en')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Tile>
  );
}

/** The executions and the tokens of the current UTC day, and the executions of the last seven days. */
export function TodayTile({ isLoading }: Loading) {
  const query = useQuery(weekMetrics(useClient()));
  return (
    <Tile title="Runs today (UTC)" link={{ to: '/runs' }} query={query} isLoading={isLoading}>
      {({ series }) => {
        const { total = 0, failed = 0, tokens = 0 } = series.at(-1) ?? {};
        return (
          <>
            <p className="figure">{total.toLocaleString('en')}</p>
            <p className="muted">
              <span className={failed > 0 ? 'failing' : undefined}>{failed.toLocaleString('en')} failed</span>,{' '}
              {counted(tokens, 'token')}
            </p>
            {/* The number of one day says as much as its bar. */}
            {series.filter((day) => day.total > 0).length > 1 && <WeekBars series={series} />}
          </>
        );
      }}
    </Tile>
  );
}

type Series = Operations['getExecutionMetrics']['data']['series'];

function WeekBars({ series }: { series: Series }) {
  const highest = Math.max(1, ...series.map(({ total }) => total));
  return (
    <div
      className="week"
      role="img"
      aria-label={`Runs of the last seven days: ${series.map(({ total }) => total).join(', ')}`}
    >
      {series.map(({ date, total, failed }) => (
        <span key={date} className="day" title={`${date}: ${counted(total, 'run')}, ${failed} failed`}>
          <span className="day-good" style={{ height: `${((total - failed) / highest) * 100}%` }} />
          <span className="day-bad" style={{ height: `${(failed / highest) * 100}%` }} />
        </span>
      ))}
    </div>
  );
}

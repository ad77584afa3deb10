import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ExecutionStatus } from '../../../client/operations.ts';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { ExecutionsTable } from '../../components/executions-table.tsx';
import { Failure } from '../../components/failure.tsx';
import { MoreButton } from '../../components/filters/more-button.tsx';
import { unique } from '../../components/format/unique.ts';
import { useAgentNames } from '../../components/hooks/use-agent-names.ts';
import { Empty, PageHead, Skeleton } from '../../components/page.tsx';
import { useClient } from '../../session.ts';

const statuses = ['running', 'completed', 'failed'] as const satisfies readonly ExecutionStatus[];

/** The choices of the filter. The API lists cancelled executions with the failed ones. */
const statusLabels: Readonly<Record<ExecutionStatus, string>> = {
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed or cancelled',
};

/** The number of executions that one request loads. */
const pageSize = 50;

/** What the rows show besides the fields of every list. */
const include: ('results' | 'subject')[] = ['results', 'subject'];

type Filters = { status?: ExecutionStatus; agentName?: string };

/** The list of executions. */
export function Runs() {
  const search = useSearch({ from: '/runs' });
  // The URL can have any text; the API accepts these only.
  const status = statuses.find((one) => one === search.status);
  const filters: Filters = { ...(status && { status }), ...(search.agent && { agentName: search.agent }) };
  const { data, error, isPending, isPlaceholderData, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useExecutions(filters);
  const total = data?.pages.at(-1)?.pagination.total;
  return (
    <>
      <PageHead title="Runs">
        <CopyAsCurl operation="listExecutions" request={{ query: { ...filters, include } }} />
      </PageHead>
      <RunFilters filters={filters} total={total} />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton rows={12} />}
      {data && total === 0 && <NoRuns filtered={Object.keys(filters).length > 0} />}
      {data && total !== 0 && (
        <div className={isPlaceholderData ? 'dimmed' : undefined}>
          <ExecutionsTable executions={unique(data.pages.flatMap((page) => page.data))} label="Runs" />
        </div>
      )}
      <MoreButton hasMore={hasNextPage} isReading={isFetchingNextPage} read={fetchNextPage} />
    </>
  );
}

function useExecutions(filters: Filters) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: ['executions', 'list', filters],
    queryFn: ({ pageParam: offset, signal }) =>
      client.listExecutions({ query: { ...filters, include, limit: pageSize, offset }, signal }),
    initialPageParam: 0,
    getNextPageParam: ({ pagination: { offset, limit, total } }) =>
      offset + limit < total ? offset + limit : undefined,
    placeholderData: keepPreviousData,
  });
}

function RunFilters({ filters, total }: { filters: Filters; total: number | undefined }) {
  const navigate = useNavigate();
  const read = useAgentNames() ?? [];
  // An agent of the URL may be deleted; its executions may still be listed.
  const names = new Set([...(filters.agentName ? [filters.agentName] : []), ...read]);
  const choose = ({ status = '', agent = '' }: { status?: string | undefined; agent?: string | undefined }) =>
    void navigate({ to: '/runs', search: { ...(status && { status }), ...(agent && { agent }) }, replace: true });
  return (
    <search className="filters paired">
      <select
        aria-label="Status"
        value={filters.status ?? ''}
        onChange={({ target }) => choose({ status: target.value, agent: filters.agentName })}
      >
        <option value="">All statuses</option>
        {statuses.map((one) => (
          <option key={one} value={one}>
            {statusLabels[one]}
          </option>
        ))}
      </select>
      <select
        aria-label="Agent"
        value={filters.agentName ?? ''}
        onChange={({ target }) => choose({ status: filters.status, agent: target.value })}
      >
        <option value="">All agents</option>
        {[...names].map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <output className="muted">
        {total !== undefined && `${total.toLocaleString('en')} ${total === 1 ? 'run' : 'runs'}`}
      </output>
    </search>
  );
}

function NoRuns({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="No runs match these filters">
        <Link to="/runs" search={{}}>
          Show all runs
        </Link>
      </Empty>
    );
  return (
    <Empty title="No agent has run yet">
      <p>Run an agent with an input, or on a task of the board. Each run is listed here with its steps.</p>
      <Link to="/agents">Choose an agent</Link>
    </Empty>
  );
}

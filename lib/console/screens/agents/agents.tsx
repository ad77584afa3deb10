import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { AgentListItem } from '../../../client/operations.ts';
import { AgentBadge } from '../../components/agent-badge.tsx';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { Failure } from '../../components/failure.tsx';
import { Empty, PageHead, Skeleton, Status } from '../../components/page.tsx';
import { ActivityCells } from './activity.tsx';
import { agentCategories, agentStatuses } from './agent-fields.ts';
import { type AgentFilters, useAgents } from './agent-queries.ts';
import { CreateAgent } from './create-agent.tsx';
import { LoadMore } from './load-more.tsx';

/** The list of agents. */
export function Agents() {
  const filters = useFilters();
  const agents = useAgents(filters);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHead title="Agents">
        <CopyAsCurl operation="listAgents" request={{ query: filters }} />
        <CreateAgent />
      </PageHead>
      <Filters filters={filters} isFiltered={isFiltered} />
      {agents.isPending ? (
        <Skeleton />
      ) : agents.isError ? (
        <Failure error={agents.error} retry={() => void agents.refetch()} />
      ) : agents.data.total === 0 ? (
        isFiltered ? (
          <Empty title="No agent matches">
            <p>Search words match the beginnings of words in names and descriptions.</p>
          </Empty>
        ) : (
          <Empty title="No agents yet">
            <p>An agent works on tasks with a prompt of its own.</p>
          </Empty>
        )
      ) : (
        <>
          <div className="table panel agents-table fitted">
            <table aria-label="Agents">
              <thead>
                <tr>
                  <th>Agent</th>
                  <th className="if-medium">Status</th>
                  <th className="number" title="The last 30 days">
                    Runs
                  </th>
                  <th className="number" title="The last 30 days">
                    Success
                  </th>
                  <th>Last run</th>
                  <th className="if-wide">Category</th>
                  <th className="if-wide">Model</th>
                </tr>
              </thead>
              <tbody>
                {agents.data.items.map((agent) => (
                  <AgentRow key={agent.id} agent={agent} />
                ))}
              </tbody>
            </table>
          </div>
          <LoadMore query={agents} shown={agents.data.items.length} total={agents.data.total} noun="agent" />
        </>
      )}
    </>
  );
}

/** Returns the filters in the URL. The API does not accept other categories and statuses, so they filter nothing. */
function useFilters(): AgentFilters {
  const { search, ...chosen } = useSearch({ from: '/agents' });
  const category = agentCategories.find((one) => one === chosen.category);
  const status = agentStatuses.find((one) => one === chosen.status);
  return useMemo(
    () => ({ ...(search && { search }), ...(category && { category }), ...(status && { status }) }),
    [search, category, status],
  );
}

function Filters({ filters, isFiltered }: { filters: AgentFilters; isFiltered: boolean }) {
  const navigate = useNavigate();
  const show = (shown: AgentFilters) => void navigate({ to: '/agents', search: shown, replace: true });
  return (
    <search className="filters paired">
      <SearchField value={filters.search} apply={(search) => show({ ...filters, search })} />
      <Choice
        label="Category"
        all="All categories"
        values={agentCategories}
        value={filters.category}
        choose={(category) => show({ ...filters, category })}
      />
      <Choice
        label="Status"
        all="All statuses"
        values={agentStatuses}
        value={filters.status}
        choose={(status) => show({ ...filters, status })}
      />
      {isFiltered && (
        <button type="button" className="quiet" onClick={() => show({})}>
          Clear
        </button>
      )}
    </search>
  );
}

/** The time after the last key until the service searches, in milliseconds. */
const typingMs = 250;

/** An input for search words, which apply while the user types. */
function SearchField({ value = '', apply }: { value: string | undefined; apply: (value: string | undefined) => void }) {
  const [typed, setTyped] = useState(value);
  const applied = useRef(value);
  // The value can change without the input, for example by a button that clears all filters.
  useEffect(() => {
    if (value !== applied.current) setTyped(value);
    applied.current = value;
  }, [value]);
  const latestApply = useRef(apply);
  latestApply.current = apply;
  useEffect(() => {
    const search = typed.trim();
    if (search === applied.current) return;
    const timer = setTimeout(() => {
      applied.current = search;
      latestApply.current(search || undefined);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      type="search"
      aria-label="Search agents"
      placeholder="Search agents"
      maxLength={200}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
}

/** A filter by one of some values, or by none. */
function Choice<Value extends string>(props: {
  label: string;
  all: string;
  values: readonly Value[];
  value: Value | undefined;
  choose: (value: Value | undefined) => void;
}) {
  return (
    <select
      aria-label={props.label}
      value={props.value ?? ''}
      onChange={({ target }) => props.choose(props.values.find((one) => one === target.value))}
    >
      <option value="">{props.all}</option>
      {props.values.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

function AgentRow({ agent }: { agent: AgentListItem }) {
  const { name, displayName, status, category, model } = agent;
  return (
    <tr>
      <td className="agent-name">
        <div>
          <AgentBadge name={name} />
          <Link to="/agents/$name" params={{ name }} className="ellipsis" title={displayName}>
            {displayName}
          </Link>
          <span className="mono muted ellipsis">{name}</span>
        </div>
      </td>
      <td className="if-medium">
        <Status value={status} />
      </td>
      <ActivityCells name={name} />
      <td className="if-wide">{category}</td>
      <td className="agent-model mono ellipsis if-wide" title={model}>
        {model}
      </td>
    </tr>
  );
}

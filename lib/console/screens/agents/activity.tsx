import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AgentMetrics } from '../../../client/operations.ts';
import { RunStatus } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient } from '../../session.ts';
import { atMost } from '../at-most.ts';

/** Returns the success rate of executions, such as `91.7 %` or `100 %`, or `–` if none has ended. */
export function successText({ completed, failed, successRate }: AgentMetrics['executions']): string {
  return completed + failed === 0 ? '–' : `${Math.round(successRate * 1000) / 10} %`;
}

/** How many agents of the list are read at the same time: each takes two requests. */
const inOrder = atMost(4);

/** How old the numbers of the list get. Each event of an execution would lead to two requests for each agent. */
const intervalMs = 60_000;

/** Reads the metrics of an agent of the last 30 days, and its newest execution. */
function useActivity(name: string) {
  const client = useClient();
  return useQuery({
    // Not the key of a noun that events name.
    queryKey: ['activity', name],
    queryFn: ({ signal }) =>
      inOrder(async () => {
        const params = { name };
        const [metrics, newest] = await Promise.all([
          client.getMetrics({ params, query: { period: '30d' }, signal }),
          client.listAgentExecutions({ params, query: { limit: 1, include: ['results'] }, signal }),
        ]);
        return { executions: metrics.data.executions, latest: newest.data[0] };
      }),
    staleTime: 0,
    refetchInterval: intervalMs,
  });
}

/** The cells of the list of agents with the runs of one: how many, how many of them succeeded, and the newest. */
export function ActivityCells({ name }: { name: string }) {
  const { data, isError } = useActivity(name);
  const unknown = <span className="muted">{isError ? 'not read' : ''}</span>;
  return (
    <>
      <td className="number">{data ? data.executions.total.toLocaleString('en') : unknown}</td>
      <td className="number">{data && successText(data.executions)}</td>
      <td className="latest-run">
        {data &&
          (data.latest ? (
            <Link to="/runs/$agent/$id" params={{ agent: name, id: data.latest.id }}>
              <span className="if-medium">
                <RunStatus run={data.latest} />{' '}
              </span>
              <Ago at={data.latest.startedAt} />
            </Link>
          ) : (
            <span className="muted">none</span>
          ))}
      </td>
    </>
  );
}

import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../../../../client/client.ts';
import type { TaskDetail } from '../../../../client/operations.ts';
import { Failure } from '../../../components/failure.tsx';
import { oneTask } from '../../../components/hooks/one-task.ts';
import { Skeleton, Status } from '../../../components/page.tsx';
import { useClient } from '../../../session.ts';
import { type Graph, type GraphEdge, type GraphNode, graphOf, shownOf } from './dependency-graph.ts';

/** The number of tasks in a layer of the graph until the user opens the others. */
const mostAtFirst = 6;

/** The tasks that must be done first, and those that these depend on in turn, as a graph. */
export function Dependencies({ task }: { task: TaskDetail }) {
  const { dependsOn, blockedBy } = task;
  const [isOpen, setOpen] = useState(false);
  const most = isOpen ? Number.POSITIVE_INFINITY : mostAtFirst;
  const { further, isPending, error, retry } = useFurther(shownOf(dependsOn, most).map(({ id }) => id));
  const graph = graphOf(dependsOn, further, most);
  if (dependsOn.length === 0) return null;
  return (
    <section>
      <h3>
        {blockedBy.length === 0
          ? 'Dependencies, all done'
          : `Blocked by ${blockedBy.length} of ${dependsOn.length} dependencies`}
      </h3>
      {error && <Failure error={error} retry={retry} />}
      {isPending ? <Skeleton rows={graph.nodes.length} /> : <Drawing task={task} graph={graph} />}
      {(graph.hidden > 0 || isOpen) && (
        <button type="button" className="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show fewer' : `${graph.hidden} more`}
        </button>
      )}
    </section>
  );
}

/** Reads what tasks depend on. */
function useFurther(ids: readonly string[]) {
  const client = useClient();
  return useQueries({
    queries: ids.map((id) => oneTask(client, id)),
    combine,
  });
}

function combine(results: UseQueryResult<Answer<'getTask'>>[]) {
  return {
    further: new Map(results.flatMap(({ data }) => (data ? [[data.data.id, data.data.dependsOn] as const] : []))),
    isPending: results.some(({ isPending }) => isPending),
    error: results.find(({ error }) => error)?.error,
    retry: () => {
      for (const { error, refetch } of results) if (error) void refetch();
    },
  };
}

/** The graph: what must be done first is left. The nodes name the tasks that need them, so the lines are only for the eye. */
function Drawing({ task, graph: { nodes, edges, height } }: { task: TaskDetail; graph: Graph }) {
  // An empty drawing would take the width of a column of its own.
  const gaps = ([0, 1] as const).filter((gap) => edges.some((edge) => edge.gap === gap));
  const layers = [nodes.filter(({ layer }) => layer === 1), nodes.filter(({ layer }) => layer === 2)] as const;
  return (
    <div
      className={layers[1].length > 0 ? 'graph deep' : gaps.includes(1) ? 'graph linked' : 'graph'}
      style={{ gridTemplateRows: `repeat(${height}, var(--half-row))` }}
    >
      <ul aria-label="Dependencies">
        {layers[0].map((node) => (
          <Node
            key={node.task.id}
            node={node}
            isReached={edges.some(({ gap, to }) => gap === 1 && to === node.middle)}
          />
        ))}
      </ul>
      {layers[1].length > 0 && (
        <ul aria-label="What the dependencies depend on">
          {layers[1].map((node) => (
            <Node key={node.task.id} node={node} isReached={false} />
          ))}
        </ul>
      )}
      <p className="graph-task reached" style={{ gridRow: `${height / 2} / span 2` }}>
        <span>This task</span>
        <Status value={task.status} />
      </p>
      {gaps.map((gap) => (
        <svg
          key={gap}
          className={`graph-gap gap-${gap}`}
          viewBox={`0 0 10 ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {edges
            .filter((edge) => edge.gap === gap)
            .map((edge) => (
              <path
                key={`${edge.from} ${edge.to} ${edge.isWithin}`}
                className={edge.isDone ? 'done' : undefined}
                d={curveOf(edge)}
                vectorEffect="non-scaling-stroke"
              />
            ))}
        </svg>
      ))}
    </div>
  );
}

/** Returns the path of a line across a gap with a width of 10. A line within a layer starts beside the end of others. */
function curveOf({ from, to, isWithin }: GraphEdge): string {
  if (!isWithin) return `M0 ${from}C5 ${from} 5 ${to} 10 ${to}`;
  const start = from + Math.sign(to - from) * 0.4;
  return `M10 ${start}C3 ${start} 3 ${to} 10 ${to}`;
}

/** A task of the graph; `isReached` if a line ends at it. */
function Node({ node: { task, layer, middle, neededBy }, isReached }: { node: GraphNode; isReached: boolean }) {
  const { id, title, status } = task;
  const search = useSearch({ from: '/board' });
  const needing = [...(layer === 1 ? ['this task'] : []), ...neededBy.map((one) => `“${one}”`)];
  return (
    <li className={`layer-${layer}${isReached ? ' reached' : ''}`} style={{ gridRow: `${middle} / span 2` }}>
      <Link
        to="/board"
        search={{ ...search, task: id }}
        className={status === 'done' ? 'graph-node done' : 'graph-node'}
        title={`${title}\n${id}`}
      >
        <span className="graph-title">{title}</span>
        <Status value={status} />
        <span className="visually-hidden">needed by {needing.join(' and ')}</span>
      </Link>
    </li>
  );
}

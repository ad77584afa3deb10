import type { TaskReference } from '../../../../client/operations.ts';

/** A task of the graph: its place, and the titles of the tasks in the graph that depend on it. */
export type GraphNode = {
  task: TaskReference;
  /** Direct dependencies are in layer 1, and those of dependencies in layer 2, left of it. */
  layer: 1 | 2;
  /** The middle of the node, counted in halves of a row from the top. */
  middle: number;
  neededBy: readonly string[];
};

/**
 * A line from a task to one that depends on it. The gap 0 is right of layer 1, and the gap 1 left of it. `from` and `to`
 * are the middles of the nodes. A line `within` layer 1 begins and ends at its left side.
 */
export type GraphEdge = { gap: 0 | 1; from: number; to: number; isWithin: boolean; isDone: boolean };

/** The drawing of a task's dependencies. */
export type Graph = {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  /** The height in halves of a row. */
  height: number;
  /** The number of tasks that are left out. */
  hidden: number;
};

/** Returns the dependencies that a graph shows if its layers have at most `most` tasks: those that block the task first. */
export function shownOf(dependencies: readonly TaskReference[], most: number): TaskReference[] {
  return dependencies.toSorted((one, other) => Number(isDone(one)) - Number(isDone(other))).slice(0, most);
}

/**
 * Returns the graph of a task with two layers of dependencies. Each task is in it once, in the layer nearest to the task.
 *
 * @param further the dependencies of the shown dependencies, by the ids of these
 * @param most the maximum number of tasks in a layer
 */
export function graphOf(
  dependencies: readonly TaskReference[],
  further: ReadonlyMap<string, readonly TaskReference[]>,
  most: number,
): Graph {
  const direct = shownOf(dependencies, most);
  const directIds = new Set(dependencies.map(({ id }) => id));
  const isNeeded = (by: TaskReference, { id }: TaskReference) => further.get(by.id)?.some((one) => one.id === id);
  const needing = (task: TaskReference) => direct.filter((one) => isNeeded(one, task));

  const found = direct.flatMap(({ id }) => further.get(id) ?? []).filter(({ id }) => !directIds.has(id));
  const indirect = [...new Map(found.map((one) => [one.id, one])).values()];
  const placeOf = (task: TaskReference) => average(needing(task).map((one) => direct.indexOf(one)));
  const places = new Map(indirect.map((one) => [one, placeOf(one)]));
  // Near to the tasks that need them, so that few lines cross.
  const shown = indirect.toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0)).slice(0, most);

  const height = 2 * Math.max(direct.length, shown.length);
  const nodesOf = (tasks: readonly TaskReference[], layer: 1 | 2): GraphNode[] =>
    tasks.map((task, at) => ({
      task,
      layer,
      middle: height / 2 - tasks.length + 2 * at + 1,
      neededBy: needing(task).map(({ title }) => title),
    }));
  const nodes = [...nodesOf(direct, 1), ...nodesOf(shown, 2)];
  const middles = new Map(nodes.map(({ task, middle }) => [task.id, middle]));
  const edges = nodes.flatMap(({ task, layer, middle: from }): GraphEdge[] => [
    ...(layer === 1 ? [{ gap: 0, from, to: height / 2, isWithin: false, isDone: isDone(task) } as const] : []),
    ...needing(task).map(({ id }) => {
      const to = middles.get(id) ?? from;
      return { gap: 1, from, to, isWithin: layer === 1, isDone: isDone(task) } as const;
    }),
  ]);
  return { nodes, edges, height, hidden: dependencies.length - direct.length + indirect.length - shown.length };
}

function isDone({ status }: TaskReference): boolean {
  return status === 'done';
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

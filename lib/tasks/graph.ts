import { ApiError, detailsLimit } from '../contract/errors.ts';

/** A task in the graph of dependencies. */
type Node = { id: string; dependsOn: string[] };

/**
 * Checks that new dependencies of a task close no cycle. It searches from them level by level.
 *
 * @param id the task
 * @param added its new dependencies
 * @param dependsOn all its dependencies after the change, for the path of an error
 * @param read returns the tasks that exist
 * @throws `ApiError` `dependency_cycle` with the ids of the cycle
 */
export async function checkNoCycle(
  id: string,
  added: readonly string[],
  dependsOn: readonly string[],
  read: (ids: string[]) => Promise<Node[]>,
): Promise<void> {
  const reachedFrom = new Map<string, string>(added.map((dependency) => [dependency, id]));
  let level = [...added];
  while (level.length > 0 && !reachedFrom.has(id)) {
    const next: string[] = [];
    for (const node of await read(level)) {
      for (const dependency of node.dependsOn) {
        if (reachedFrom.has(dependency)) continue;
        reachedFrom.set(dependency, node.id);
        next.push(dependency);
      }
    }
    level = next;
  }
  if (!reachedFrom.has(id)) return;
  const cycle = [id];
  for (let at = reachedFrom.get(id) as string; at !== id; at = reachedFrom.get(at) as string) cycle.unshift(at);
  cycle.unshift(id);
  const path = `dependsOn.${dependsOn.indexOf(cycle[1] as string)}`;
  throw new ApiError(
    'dependency_cycle',
    'A task cannot depend on itself, directly or through other tasks; remove the dependency.',
    [{ path, code: 'cycle', message: `These tasks would wait for each other: ${shortened(cycle).join(' → ')}.` }],
  );
}

/** Returns the ids of a cycle, or only its two ends if it is long: an error names at most `detailsLimit` tasks. */
function shortened(cycle: string[]): string[] {
  const half = detailsLimit / 2;
  return cycle.length > detailsLimit ? [...cycle.slice(0, half), '…', ...cycle.slice(-half)] : cycle;
}

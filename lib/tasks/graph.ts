import { ApiError, detailsLimit } from '../contract/errors.ts';

/** What the walk asks of a task: its id and what it depends on. */
type Node = { id: string; dependsOn: string[] };

/**
 * Refuses dependencies that would close a ring, walking from them level by level.
 *
 * @param id the task that is about to depend on `added`
 * @param dependsOn all that it will depend on: where each added one stands in the body
 * @param read reads tasks as they are now; those that do not exist are left out
 * @throws `ApiError` `dependency_cycle`, whose detail names the path from the added dependency back to the task
 */
export async function rejectCycle(
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
  const ring = [id];
  for (let at = reachedFrom.get(id) as string; at !== id; at = reachedFrom.get(at) as string) ring.unshift(at);
  ring.unshift(id);
  const path = `dependsOn.${dependsOn.indexOf(ring[1] as string)}`;
  throw new ApiError('dependency_cycle', 'A task cannot depend on itself, directly or through others.', [
    { path, code: 'cycle', message: `These tasks would wait for each other: ${shortened(ring).join(' → ')}.` },
  ]);
}

/** Shortens a long ring to its two ends: an error response names at most `detailsLimit` tasks. */
function shortened(ring: string[]): string[] {
  const half = detailsLimit / 2;
  return ring.length > detailsLimit ? [...ring.slice(0, half), '…', ...ring.slice(-half)] : ring;
}

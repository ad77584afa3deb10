import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import type { Evidence } from './evidence.ts';

/** The number of leases of an execution that has failed as lost. */
const claimsOfLost = 3;

/** Returns the faults of the executions: each in the ledger has ended, none exists twice, and none counts as running. */
export function checkExecutions({
  ledger,
  executions,
  countedExecutions,
  places,
}: Pick<Evidence, 'ledger' | 'executions' | 'countedExecutions' | 'places'>): string[] {
  const stored = new Set(executions.map(({ id }) => id));
  return [
    ...[...ledger.executions].filter((id) => !stored.has(id)).map((id) => `${id} was started and does not exist`),
    ...executions
      .filter(({ id }) => !ledger.executions.has(id))
      .map(({ id }) => `${id} exists and no response has named it`),
    ...executions.flatMap(faultOf),
    ...(places === 0 ? [] : [`${places} executions count as running and none runs`]),
    ...[...countedExecutions].flatMap(([status, number]) => {
      const actual = executions.filter((execution) => execution.status === status).length;
      return number === actual ? [] : [`the list of ${status} counts ${number} executions, not ${actual}`];
    }),
  ];
}

/** The model of a soak never fails: an execution fails only as lost. */
function faultOf({ id, status, error, claims }: ExecutionHead): string[] {
  if (status === 'running') return [`${id} is still running`];
  if (status === 'failed' && (error !== 'lost' || claims < claimsOfLost))
    return [`${id} has failed (${error}) after ${claims} leases`];
  return [];
}

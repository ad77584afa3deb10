import type { ExecutionHead } from '../../lib/table/execution-items.ts';
import type { Evidence } from './evidence.ts';

/** An execution that so many workers had in hand has been given up by the last of them. */
const claimsOfLost = 3;

/** What is wrong with the executions: each that was answered for has ended, none was begun twice, and no place is taken. */
export function recountExecutions({
  ledger,
  executions,
  countedExecutions,
  places,
}: Pick<Evidence, 'ledger' | 'executions' | 'countedExecutions' | 'places'>): string[] {
  const stored = new Set(executions.map(({ id }) => id));
  return [
    ...[...ledger.executions].filter((id) => !stored.has(id)).map((id) => `${id} was started and is not there`),
    ...executions.filter(({ id }) => !ledger.executions.has(id)).map(({ id }) => `${id} runs for nobody`),
    ...executions.flatMap(faultOf),
    ...(places === 0 ? [] : [`${places} places are taken where nothing is to run`]),
    ...[...countedExecutions].flatMap(([status, number]) => {
      const actual = executions.filter((execution) => execution.status === status).length;
      return number === actual ? [] : [`the list of ${status} counts ${number} executions, not ${actual}`];
    }),
  ];
}

/** The model of a soak never fails, so what has failed was given up. */
function faultOf({ id, status, error, claims }: ExecutionHead): string[] {
  if (status === 'running') return [`${id} is still running`];
  if (status === 'failed' && (error !== 'lost' || claims < claimsOfLost))
    return [`${id} has failed (${error}) in the hand of ${claims} workers`];
  return [];
}

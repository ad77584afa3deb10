import type { ExecutionListItem } from '../../../client/operations.ts';

/** What the state of an execution is made of. Lists of executions of earlier versions have neither the error nor the gates. */
export type StatedRun = Pick<ExecutionListItem, 'status' | 'error' | 'qualityGates'>;

/** Returns how an execution is or has ended, for people and as the name of its colour: `completed, QA failed`. `short` is enough beside its gates. */
export function runState({ status, error, qualityGates }: StatedRun): { text: string; short: string; color: string } {
  if (status === 'failed' && error === 'cancelled') return { text: error, short: error, color: error };
  const [selfTest, qaReview] = [qualityGates?.selfTest === 'failed', qualityGates?.qaReview === 'failed'];
  if (status !== 'completed' || !(selfTest || qaReview)) return { text: status, short: status, color: status };
  const gates = selfTest && qaReview ? 'both gates' : selfTest ? 'self-test' : 'QA';
  const short = `${gates} failed`;
  return { text: `${status}, ${short}`, short, color: 'gates_failed' };
}

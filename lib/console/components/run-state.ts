import type { ExecutionListItem } from '../../client/operations.ts';

/** What the state of an execution is made of. Lists of executions of earlier versions have neither the error nor the gates. */
export type StatedRun = Pick<ExecutionListItem, 'status' | 'error' | 'qualityGates'>;

/** Returns how an execution is or has ended, for people and as the name of its colour: `completed, QA failed`. */
export function runState({ status, error, qualityGates }: StatedRun): { text: string; color: string } {
  if (status === 'failed' && error === 'cancelled') return { text: error, color: error };
  const [selfTest, qaReview] = [qualityGates?.selfTest === 'failed', qualityGates?.qaReview === 'failed'];
  if (status !== 'completed' || !(selfTest || qaReview)) return { text: status, color: status };
  const gates = selfTest && qaReview ? 'both gates' : selfTest ? 'self-test' : 'QA';
  return { text: `${status}, ${gates} failed`, color: 'gates_failed' };
}

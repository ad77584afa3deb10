import type { ExecutionHead } from '../table/execution-items.ts';

/** A finished execution, and what is wrong with it as far as the prompt may be the reason. */
export type Evidence = { execution: ExecutionHead; troubles: string[] };

/** So much above the middle of an agent's executions is worth a look. */
const excess = 2;

/**
 * What recent executions tell of an agent's prompt, in the order in which they are given: failures, failed gates, and
 * what took much longer or cost much more than the others. Of one whose workers died neither its end nor how long it
 * took says anything of the prompt.
 */
export function evidenceOf(executions: readonly ExecutionHead[]): Evidence[] {
  const finished = executions.filter(({ status }) => status !== 'running');
  const telling = finished.filter(({ error }) => error !== 'lost');
  const [duration, tokens] = [middle(telling.map(durationOf)), middle(telling.map(tokensOf))];
  return finished.map((execution) => {
    const { status, error, selfTest, qaReview } = execution;
    if (!telling.includes(execution)) return { execution, troubles: [] };
    const troubles = [
      ...(status === 'failed' ? [`failed: ${error}`] : []),
      ...(selfTest === 'failed' ? ['did not pass its own test'] : []),
      ...(qaReview === 'failed' ? ['did not pass the review'] : []),
      ...(durationOf(execution) > excess * duration ? ['took long'] : []),
      ...(tokensOf(execution) > excess * tokens ? ['cost much'] : []),
    ];
    return { execution, troubles };
  });
}

const durationOf = ({ durationMs = 0 }: ExecutionHead) => durationMs;
const tokensOf = ({ tokensUsed = 0 }: ExecutionHead) => tokensUsed;

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** A line that tells of an execution. */
export function lineOf({ execution, troubles }: Evidence): string {
  const { status, durationMs = 0, tokensUsed = 0, selfTest, qaReview } = execution;
  const gates = `own test ${selfTest}, review ${qaReview}`;
  const trouble = troubles.length > 0 ? `; ${troubles.join('; ')}` : '';
  return `- ${status}, ${(durationMs / 1000).toFixed(1)} s, ${tokensUsed} tokens, ${gates}${trouble}`;
}

import { agentNotActive } from '../executions/run/changed-agent.ts';
import type { ExecutionHead } from '../table/executions/execution-items.ts';

/** A finished execution, and its troubles for which the prompt may be the reason. */
export type Evidence = { execution: ExecutionHead; troubles: string[] };

/** The errors for which the prompt is not the reason. */
const unrelatedErrors: readonly string[] = ['lost', 'cancelled', agentNotActive];

/** An execution that takes more than this many times the median of the others is a trouble. */
const excess = 2;

/**
 * Returns the evidence of recent executions, in their order: failures, failed gates, and executions that took much longer or
 * cost much more than the median. An execution that was cancelled, or that failed because its workers were lost or its
 * agent was deactivated, has no troubles: it says nothing about the prompt.
 */
export function evidenceOf(executions: readonly ExecutionHead[]): Evidence[] {
  const finished = executions.filter(({ status }) => status !== 'running');
  const considered = finished.filter(({ error }) => !unrelatedErrors.includes(error ?? ''));
  const [duration, tokens] = [median(considered.map(durationOf)), median(considered.map(tokensOf))];
  return finished.map((execution) => {
    const { status, error, selfTest, qaReview } = execution;
    if (!considered.includes(execution)) return { execution, troubles: [] };
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

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Returns the line that describes an execution to the improver. */
export function evidenceLine({ execution, troubles }: Evidence): string {
  const { status, durationMs = 0, tokensUsed = 0, selfTest, qaReview } = execution;
  const gates = `own test ${selfTest}, review ${qaReview}`;
  const trouble = troubles.length > 0 ? `; ${troubles.join('; ')}` : '';
  return `- ${status}, ${(durationMs / 1000).toFixed(1)} s, ${tokensUsed} tokens, ${gates}${trouble}`;
}

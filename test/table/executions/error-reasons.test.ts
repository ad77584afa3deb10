import { expect, it } from 'vitest';
import { errorReasonOf } from '../../../lib/table/executions/error-reasons.ts';

const reasonOf = (fields: Partial<Parameters<typeof errorReasonOf>[0]>) =>
  errorReasonOf({ status: 'failed', ...fields });

it.each(['not_started', 'deadline', 'lost', 'step_limit', 'token_limit', 'cancelled', 'agent_not_active'])(
  'the code %s of a failed execution has a sentence',
  (error) => {
    expect(reasonOf({ error })).toMatch(/^[A-Z][^_]+\.$/);
  },
);

it('a stored reason comes before that of the code, and any other error is its own sentence', () => {
  expect(reasonOf({ error: 'deadline', errorReason: 'It waited.' })).toBe('It waited.');
  for (const error of ['The model refused to do this.', 'constructor']) expect(reasonOf({ error })).toBe(error);
});

it('an execution that has not failed has none', () => {
  expect(reasonOf({ status: 'completed' })).toBeUndefined();
  expect(reasonOf({ status: 'running' })).toBeUndefined();
});

import { expect, it } from 'vitest';
import { executionStateText } from '../../../../infra/texts.ts';
import type { ExecutionStatus, QualityGates } from '../../../../lib/client/operations.ts';
import { runState } from '../../../../lib/console/components/format/run-state.ts';

const gates = (selfTest: QualityGates['selfTest'], qaReview: QualityGates['qaReview']) => ({
  qualityGates: { selfTest, qaReview },
});

it.each<[text: string, color: string, status: ExecutionStatus, more: Parameters<typeof runState>[0] | object]>([
  ['running', 'running', 'running', {}],
  ['running', 'running', 'running', gates('failed', 'pending')],
  ['completed', 'completed', 'completed', {}],
  ['completed', 'completed', 'completed', gates('passed', 'passed')],
  ['completed', 'completed', 'completed', gates('skipped', 'skipped')],
  ['completed, QA failed', 'gates_failed', 'completed', gates('passed', 'failed')],
  ['completed, self-test failed', 'gates_failed', 'completed', gates('failed', 'skipped')],
  ['completed, both gates failed', 'gates_failed', 'completed', gates('failed', 'failed')],
  ['failed', 'failed', 'failed', gates('skipped', 'skipped')],
  ['failed', 'failed', 'failed', { error: 'deadline' }],
  ['cancelled', 'cancelled', 'failed', { error: 'cancelled', ...gates('pending', 'pending') }],
])('the state “%s” has the colour %s, and is the same in the terminal', (text, color, status, more) => {
  expect(runState({ status, ...more })).toEqual({ text, short: text.replace('completed, ', ''), color });
  expect(executionStateText({ status, ...more })).toBe(text);
});

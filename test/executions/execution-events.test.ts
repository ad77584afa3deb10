import { expect, it } from 'vitest';
import { executionEvents } from '../../lib/executions/execution-events.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { runningExecution } from '../table/executions/execution-table.ts';

const running = runningExecution({ taskId: 'tk_01K00000000000000000000000' });
const leased: ExecutionHead = { ...running, claims: 1, claim: 'mine', leaseUntil: '2026-03-01T12:00:30.000Z' };
const ended = { completedAt: '2026-03-01T12:00:07.000Z', durationMs: 7_000, tokensUsed: 0 };
const completed: ExecutionHead = { ...running, claims: 1, status: 'completed', ...ended, selfTest: 'passed' };
const failed: ExecutionHead = { ...running, claims: 1, status: 'failed', ...ended, error: 'deadline' };

const { id, agentName, taskId, startedAt } = running;
const fields = { id, agentName, taskId, startedAt };

it.each([
  ['starts', 'agent.spawned', undefined, running, { ...fields, status: 'running' }],
  ['finishes', 'agent.completed', leased, completed, { ...fields, status: 'completed', ...ended }],
  ['fails', 'agent.failed', leased, failed, { ...fields, status: 'failed', ...ended, error: 'deadline' }],
])('the event of an execution that %s is %s, with these fields and no others', (_, event, before, after, execution) => {
  const occurredAt = after.completedAt ?? startedAt;
  expect(executionEvents(before, after)).toStrictEqual([{ event, data: { execution, occurredAt } }]);
});

it('the event of an execution has no taskId if the execution has no task', () => {
  expect(executionEvents(undefined, runningExecution())[0]?.data.execution).not.toHaveProperty('taskId');
});

it.each<[string, ExecutionHead, ExecutionHead | undefined]>([
  ['leased', running, leased],
  ['leased after a lost worker', leased, { ...leased, claims: 2, claim: 'another' }],
  ['changed after its end', completed, { ...completed, qaReview: 'skipped' }],
  ['removed', completed, undefined],
])('an execution that is %s has no event', (_, before, after) => {
  expect(executionEvents(before, after)).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import { executionEvents } from '../../lib/executions/execution-events.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';

const running: ExecutionHead = {
  organization: 'org' as Organization,
  id: 'ex_01K00000000000000000000000',
  agentId: 'ag_01K00000000000000000000000',
  agentName: 'writer',
  taskId: 'tk_01K00000000000000000000000',
  status: 'running',
  startedAt: '2026-03-01T12:00:00.000Z',
  model: 'some.model',
  selfTest: 'pending',
  qaReview: 'pending',
  claims: 0,
};
const leased: ExecutionHead = { ...running, claims: 1, claim: 'mine', leaseUntil: '2026-03-01T12:00:30.000Z' };
const ended = { completedAt: '2026-03-01T12:00:07.000Z', durationMs: 7_000, tokensUsed: 111 };
const completed: ExecutionHead = { ...running, claims: 1, status: 'completed', ...ended, selfTest: 'passed' };
const failed: ExecutionHead = { ...running, claims: 1, status: 'failed', ...ended, error: 'deadline' };

describe('the event of an execution', () => {
  it('that starts is agent.spawned, with these fields and no others', () => {
    const { id, agentName, taskId, startedAt } = running;
    const execution = { id, agentName, taskId, status: 'running', startedAt };
    expect(executionEvents(undefined, running)).toStrictEqual([
      { event: 'agent.spawned', data: { execution, occurredAt: startedAt } },
    ]);
  });

  it('that finishes is agent.completed, with these fields and no others', () => {
    const { id, agentName, taskId, startedAt } = running;
    const execution = { id, agentName, taskId, status: 'completed', startedAt, ...ended };
    expect(executionEvents(leased, completed)).toStrictEqual([
      { event: 'agent.completed', data: { execution, occurredAt: ended.completedAt } },
    ]);
  });

  it('that fails is agent.failed, with the error', () => {
    const { id, agentName, taskId, startedAt } = running;
    const execution = { id, agentName, taskId, status: 'failed', startedAt, ...ended, error: 'deadline' };
    expect(executionEvents(leased, failed)).toStrictEqual([
      { event: 'agent.failed', data: { execution, occurredAt: ended.completedAt } },
    ]);
  });

  it('has no taskId if the execution has no task', () => {
    const { taskId: _, ...bare } = running;
    expect(executionEvents(undefined, bare)[0]?.data.execution).not.toHaveProperty('taskId');
  });

  it('has a tokensUsed of 0', () => {
    const [event] = executionEvents(leased, { ...failed, tokensUsed: 0 });
    expect(event?.data.execution).toMatchObject({ tokensUsed: 0 });
  });
});

it.each<[string, ExecutionHead, ExecutionHead]>([
  ['leased', running, leased],
  ['leased for longer', leased, { ...leased, leaseUntil: '2026-03-01T12:00:40.000Z' }],
  ['leased after a lost worker', leased, { ...leased, claims: 2, claim: 'another' }],
  ['changed after its end', completed, { ...completed, qaReview: 'skipped' }],
])('an execution that is %s has no event', (_, before, after) => {
  expect(executionEvents(before, after)).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../../../../lib/client/operations.ts';
import { historyText } from '../../../../../../lib/console/screens/board/task/discussion/history-text.ts';

const changed = (...changes: NonNullable<HistoryEntry['changes']>) => historyText({ kind: 'changed', changes });
const long = (length: number) => ({ length, hash: 'sha256:0' });
const [first, second, third] = ['tk_1', 'tk_2', 'tk_3'];

describe('a change in a history', () => {
  it.each([
    [{ field: 'status', from: 'assigned', to: 'in_progress' }, 'changed the status from assigned to in progress'],
    [{ field: 'priority', from: 'low', to: 'high' }, 'changed the priority from low to high'],
    [{ field: 'assignedAgent', from: null, to: 'writer' }, 'assigned the task to writer'],
    [{ field: 'assignedAgent', from: 'writer', to: 'tester' }, 'changed the agent from writer to tester'],
    [{ field: 'assignedAgent', from: 'writer', to: null }, 'removed the agent'],
    [{ field: 'projectId', from: null, to: 'proj_a_b' }, 'set the project to proj_a_b'],
    [{ field: 'title', from: 'In_one', to: 'Other' }, 'changed the title from “In_one” to “Other”'],
    [{ field: 'title', from: long(400), to: 'Other' }, 'changed the title'],
    [{ field: 'description', from: null, to: 'Text' }, 'added the description'],
    [{ field: 'description', from: 'Text', to: long(900) }, 'changed the description'],
    [{ field: 'description', from: 'Text', to: null }, 'removed the description'],
    [{ field: 'dependsOn', from: null, to: [first, second] }, 'added 2 dependencies'],
    [{ field: 'dependsOn', from: [first, second], to: [third] }, 'added 1 dependency and removed 2 dependencies'],
    [{ field: 'dependsOn', from: [first, second], to: [second, first] }, 'changed the order of the dependencies'],
    [{ field: 'stopped', from: null, to: 'No key.' }, 'stopped the task'],
    [{ field: 'stopped', from: 'No key.', to: null }, 'offered the task again'],
    [{ field: 'dueAt', from: null, to: '2026-01-01' }, 'set the dueAt to 2026-01-01'],
  ])('%j is a sentence', (change, text) => expect(changed(change)).toBe(text));

  it('names all fields', () => {
    const status = { field: 'status', from: 'backlog', to: 'assigned' };
    const priority = { field: 'priority', from: 'low', to: 'high' };
    const agent = { field: 'assignedAgent', from: null, to: 'writer' };
    expect(changed(status, priority, agent)).toBe(
      'changed the status from backlog to assigned, changed the priority from low to high, and assigned the task to writer',
    );
  });
});

describe('an action in a history', () => {
  const toInProgress = { field: 'status', from: 'assigned', to: 'in_progress' };

  it.each([
    [
      'created',
      [{ field: 'status', from: null, to: 'up_for_review' }],
      'created the task with the status up for review',
    ],
    ['claimed', [toInProgress], 'claimed the task and changed the status from assigned to in progress'],
    ['claimed', [], 'claimed the task'],
    ['released', [], 'released the task'],
    ['commented', [], 'commented'],
    ['execution_started', [toInProgress], 'started a run and changed the status from assigned to in progress'],
    ['execution_ended', [], 'ended a run'],
    ['reviewed', [{ field: 'status', from: 'qa_review', to: 'done' }], 'accepted the task'],
    ['reviewed', [{ field: 'status', from: 'qa_review', to: 'assigned' }], 'sent the task back to assigned'],
    ['deleted', [], 'deleted the task'],
  ] as const)('%s with %j is a sentence', (kind, changes, text) => {
    expect(historyText({ kind, changes: [...changes] })).toBe(text);
  });

  it('without a changed field is a note of a worker', () => {
    expect(historyText({ kind: 'changed' })).toBe('left a note');
  });
});

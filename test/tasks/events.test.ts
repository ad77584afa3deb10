import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type TaskEvent, TaskEventData } from '../../lib/contract/events.ts';
import { type Task, type TaskStatus, taskStatuses } from '../../lib/contract/tasks.ts';
import { taskFrom, taskItem } from '../../lib/table/tasks/task-items.ts';
import { taskEvents } from '../../lib/tasks/events.ts';

const id = 'tk_01K00000000000000000000000';

const task = (fields: Partial<Task> = {}): Task => ({
  id,
  title: 'A task',
  description: 'private words',
  status: 'backlog',
  priority: 'high',
  assignedAgent: 'a-coder',
  projectId: 'proj_1',
  dependsOn: [],
  createdAt: '2026-03-01T12:00:00.000Z',
  updatedAt: '2026-03-01T12:00:00.000Z',
  ...fields,
});

/** Returns events as receivers parse them. */
const parsed = (events: TaskEvent[]): unknown => JSON.parse(JSON.stringify(events));
const namesOf = (events: TaskEvent[]) => events.map(({ event }) => event);
const later = '2026-03-01T13:00:00.000Z';

describe('a new task', () => {
  it.each(taskStatuses)('with status %s is one task.created', (status) => {
    expect(namesOf(taskEvents(undefined, task({ status })))).toEqual(['task.created']);
  });

  it('has these fields in its event and no others', () => {
    expect(parsed(taskEvents(undefined, task()))).toEqual([
      {
        event: 'task.created',
        data: {
          task: { id, title: 'A task', status: 'backlog', assignedAgent: 'a-coder', projectId: 'proj_1' },
          occurredAt: '2026-03-01T12:00:00.000Z',
        },
      },
    ]);
  });
});

describe('a change of the status', () => {
  const changes = taskStatuses
    .flatMap((from) => taskStatuses.map((to): [TaskStatus, TaskStatus] => [from, to]))
    .filter(([from, to]) => from !== to);

  it.each(changes)('has an event from %s to %s', (from, to) => {
    const events = taskEvents(task({ status: from }), task({ status: to, updatedAt: later }));
    expect(namesOf(events)).toEqual(
      to === 'done' ? ['task.status_changed', 'task.completed'] : ['task.status_changed'],
    );
    expect(events[0]?.data.task).toMatchObject({ previousStatus: from, status: to });
  });

  it('has these fields in its event, in this order, and no others, with the time of the change', () => {
    const [event] = taskEvents(task(), task({ status: 'in_progress', updatedAt: later }));
    expect(parsed(event ? [event] : [])).toEqual([
      {
        event: 'task.status_changed',
        data: {
          task: {
            id,
            title: 'A task',
            previousStatus: 'backlog',
            status: 'in_progress',
            assignedAgent: 'a-coder',
            projectId: 'proj_1',
          },
          occurredAt: '2026-03-01T13:00:00.000Z',
        },
      },
    ]);
    expect(Object.keys(event?.data.task ?? {})).toEqual([
      'id',
      'title',
      'previousStatus',
      'status',
      'assignedAgent',
      'projectId',
    ]);
  });

  it('to done is also task.completed, without the previous status', () => {
    const [, completed] = taskEvents(task({ status: 'qa_review' }), task({ status: 'done', updatedAt: later }));
    expect(parsed(completed ? [completed] : [])).toEqual([
      {
        event: 'task.completed',
        data: {
          task: { id, title: 'A task', status: 'done', assignedAgent: 'a-coder', projectId: 'proj_1' },
          occurredAt: '2026-03-01T13:00:00.000Z',
        },
      },
    ]);
  });

  it('has the title and the agent that the same change sets', () => {
    const after = task({ status: 'assigned', title: 'Renamed', assignedAgent: 'a-tester', updatedAt: later });
    expect(taskEvents(task(), after)[0]?.data.task).toMatchObject({ title: 'Renamed', assignedAgent: 'a-tester' });
  });
});

describe('no event', () => {
  it.each([
    ['another title', { title: 'Renamed' }],
    ['another priority', { priority: 'low' as const }],
    ['another agent', { assignedAgent: 'a-tester' }],
    ['another dependency', { dependsOn: ['tk_01K00000000000000000000001'] }],
    ['a change of no field', {}],
  ])('is derived from %s', (_, fields) => {
    expect(taskEvents(task({ status: 'done' }), task({ status: 'done', ...fields, updatedAt: later }))).toEqual([]);
  });

  it('is derived from a deletion', () => {
    expect(taskEvents(task({ status: 'done' }), undefined)).toEqual([]);
  });

  it('is derived from a new dependent', () => {
    const organization = 'one' as Parameters<typeof taskItem>[0];
    const stored = { ...task(), version: 3, dependents: [] };
    const before = taskItem(organization, stored);
    const after = taskItem(organization, { ...stored, dependents: ['tk_01K00000000000000000000001'] });
    expect(after).not.toEqual(before);
    expect(taskEvents(taskFrom(before), taskFrom(after))).toEqual([]);
  });
});

describe('a field that a task does not have', () => {
  const { assignedAgent: _, projectId: __, ...bare } = task();

  it('is not in its events', () => {
    const events = [...taskEvents(undefined, bare), ...taskEvents(bare, { ...bare, status: 'done' })];
    const read = parsed(events) as { data: { task: object } }[];
    expect(read.map(({ data }) => Object.keys(data.task))).toEqual([
      ['id', 'title', 'status'],
      ['id', 'title', 'previousStatus', 'status'],
      ['id', 'title', 'status'],
    ]);
  });

  it('is optional in the published shape of events', () => {
    const events = [...taskEvents(undefined, bare), ...taskEvents(bare, { ...bare, status: 'done' })];
    for (const { data } of events) expect(v.is(TaskEventData, JSON.parse(JSON.stringify(data)))).toBe(true);
  });
});

describe('description, priority, dependencies and fields of the store', () => {
  it('are in no event', () => {
    const events = [...taskEvents(undefined, task()), ...taskEvents(task(), task({ status: 'done' }))];
    expect(JSON.stringify(events)).not.toMatch(/private words|priority|dependsOn|dependents|version/);
  });
});

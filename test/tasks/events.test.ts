import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { taskStatuses } from '../../lib/contract/tasks/tasks.ts';
import { type TaskEvent, TaskEventData } from '../../lib/contract/webhooks/events.ts';
import { type StoredTask, taskFrom, taskItem } from '../../lib/table/tasks/task-items.ts';
import { taskEvents } from '../../lib/tasks/events.ts';

const id = 'tk_01K00000000000000000000000';
const references = { assignedAgent: 'a-coder', projectId: 'proj_1' };
const [createdAt, later] = ['2026-03-01T12:00:00.000Z', '2026-03-01T13:00:00.000Z'];

const task = (fields: Partial<StoredTask> = {}): StoredTask => ({
  ...{ id, title: 'A task', description: 'private words', status: 'backlog', priority: 'high' },
  ...{ ...references, dependsOn: [], createdAt, updatedAt: createdAt, version: 1, dependents: [] },
  ...fields,
});

/** Returns events as receivers parse them. */
const parsed = (events: TaskEvent[]): unknown => JSON.parse(JSON.stringify(events));
const namesOf = (events: TaskEvent[]) => events.map(({ event }) => event);

it.each(taskStatuses)('a new task with status %s is one task.created, with these fields and no others', (status) => {
  const data = { task: { id, title: 'A task', status, ...references }, sequence: 1, occurredAt: createdAt };
  expect(parsed(taskEvents(undefined, task({ status })))).toEqual([{ event: 'task.created', data }]);
});

describe('a change of the status', () => {
  const changes = taskStatuses
    .flatMap((from) => taskStatuses.map((to) => [from, to] as const))
    .filter(([from, to]) => from !== to);

  it.each(changes)('has an event from %s to %s', (from, to) => {
    const events = taskEvents(task({ status: from }), task({ status: to, updatedAt: later }));
    const names = ['task.status_changed', ...(to === 'done' ? ['task.completed'] : [])];
    expect(namesOf(events)).toEqual(names);
    expect(events[0]?.data.task).toMatchObject({ previousStatus: from, status: to });
  });

  it('to done has these fields in its events, in this order, and no others, with the time and the version of the change', () => {
    const done = task({ status: 'done', title: 'Renamed', assignedAgent: 'a-tester', updatedAt: later, version: 2 });
    const events = taskEvents(task(), done);
    const shown = { id, title: 'Renamed', status: 'done', assignedAgent: 'a-tester', projectId: 'proj_1' };
    const changed = { ...shown, previousStatus: 'backlog' };
    expect(parsed(events)).toEqual([
      { event: 'task.status_changed', data: { task: changed, sequence: 2, occurredAt: later } },
      { event: 'task.completed', data: { task: shown, sequence: 2, occurredAt: later } },
    ]);
    const fields = ['id', 'title', 'previousStatus', 'status', 'assignedAgent', 'projectId'];
    expect(Object.keys(events[0]?.data.task ?? {})).toEqual(fields);
  });
});

it.each<[string, Partial<StoredTask>]>([
  ['another title', { title: 'Renamed' }],
  ['another priority', { priority: 'low' }],
  ['another agent', { assignedAgent: 'a-tester' }],
  ['another dependency', { dependsOn: ['tk_01K00000000000000000000001'] }],
  ['a change of no field', {}],
])('no event is derived from %s', (_, fields) => {
  expect(taskEvents(task({ status: 'done' }), task({ status: 'done', ...fields, updatedAt: later }))).toEqual([]);
});

it('no event is derived from a deletion, or from a new dependent', () => {
  expect(taskEvents(task({ status: 'done' }), undefined)).toEqual([]);
  const organization = 'one' as Parameters<typeof taskItem>[0];
  const stored = task({ version: 3 });
  const before = taskItem(organization, stored);
  const after = taskItem(organization, { ...stored, dependents: ['tk_01K00000000000000000000001'] });
  expect(after).not.toEqual(before);
  expect(taskEvents(taskFrom(before), taskFrom(after))).toEqual([]);
});

it('a field that a task does not have is not in its events, and is optional in their published shape', () => {
  const { assignedAgent, projectId, ...bare } = task();
  const events = [...taskEvents(undefined, bare), ...taskEvents(bare, { ...bare, status: 'done' })];
  const read = parsed(events) as { data: { task: object } }[];
  expect(read.map(({ data }) => Object.keys(data.task))).toEqual([
    ['id', 'title', 'status'],
    ['id', 'title', 'previousStatus', 'status'],
    ['id', 'title', 'status'],
  ]);
  for (const { data } of read) expect(v.is(TaskEventData, data)).toBe(true);
});

import { describe, expect, it } from 'vitest';
import { validate } from '../../../lib/contract/requests/validate.ts';
import {
  countTasks,
  createTask,
  listTasks,
  TaskId,
  taskPriorities,
  taskStatuses,
  updateTask,
} from '../../../lib/contract/tasks/tasks.ts';
import { agentNames, errorsOf, ids, testFields, testPage, texts, words } from '../fields.ts';

const id = 'tk_01K00000000000000000000000';
const someIds = (count: number) => Array.from({ length: count }, (_, at) => `tk_01K${String(at).padStart(23, '0')}`);
const projectIds = {
  valid: [`proj_${'a'.repeat(64)}`, 'proj___proto__'],
  invalid: ['docs', 'proj_', `proj_${'a'.repeat(65)}`],
};

it('a create requires only a title, and gets the defaults', () => {
  const output = { title: 't', status: 'backlog', priority: 'medium', dependsOn: [] };
  expect(validate(createTask.body, { title: 't' })).toEqual({ output, errors: [] });
  expect(errorsOf(createTask.body, {})).toEqual(['title required']);
});

describe('an update', () => {
  it('requires nothing, and has no defaults', () => {
    expect(validate(updateTask.body, {})).toEqual({ output: {}, errors: [] });
  });

  it.each(['description', 'assignedAgent', 'projectId'])('accepts null for %s', (field) => {
    expect(validate(updateTask.body, { [field]: null })).toEqual({ output: { [field]: null }, errors: [] });
    expect(errorsOf(createTask.body, { title: 't', [field]: null })).toEqual([`${field} invalid_type`]);
  });
});

describe.each([
  ['create', createTask.body],
  ['update', updateTask.body],
])('the body of a %s', (_, schema) => {
  testFields(
    schema,
    { title: 't' },
    {
      title: { ...texts(500, { label: true }), ofOtherType: [null, 1e3] },
      description: texts(10_000, { blank: true }),
      status: words(...taskStatuses),
      priority: words(...taskPriorities),
      assignedAgent: agentNames,
      projectId: projectIds,
      dependsOn: { valid: [[], someIds(25)], invalid: [[id, id], someIds(26)], ofOtherType: [null, id] },
    },
  );

  it('cannot have null as status or priority', () => {
    const errors = errorsOf(schema, { title: 't', status: null, priority: null });
    expect(errors).toEqual(['status invalid_value', 'priority invalid_value']);
  });

  it('names the place of an invalid dependency', () => {
    const dependsOn = [id, 'ag_1', 7, null, id.toLowerCase()];
    expect(errorsOf(schema, { title: 't', dependsOn })).toEqual([
      'dependsOn.1 invalid_value',
      'dependsOn.2 invalid_type',
      'dependsOn.3 invalid_type',
      'dependsOn.4 invalid_value',
    ]);
  });
});

it.each(ids('tk').invalid)('%j is not the id of a task', (other) => {
  expect(errorsOf(TaskId, id)).toEqual([]);
  expect(errorsOf(TaskId, other)).toHaveLength(1);
});

const filters = {
  status: words(...taskStatuses),
  priority: words(...taskPriorities),
  assigned_agent: agentNames,
  project_id: projectIds,
};

describe('the query of a list', () => {
  testPage(listTasks.query);
  testFields(listTasks.query, {}, filters);
});

describe('the query of counts', () => {
  testFields(countTasks.query, {}, { ...filters, group_by: words('status', 'priority', 'assigned_agent') });

  it('groups by status if it does not name a field', () => {
    expect(validate(countTasks.query, {})).toEqual({ output: { group_by: 'status' }, errors: [] });
  });
});

import { describe, expect, it } from 'vitest';
import type { ObjectSchema } from '../../lib/contract/shapes.ts';
import { createTask, listTasks, TaskId, taskPriorities, taskStatuses, updateTask } from '../../lib/contract/tasks.ts';
import { validate } from '../../lib/http/validate.ts';

const id = 'tk_01K00000000000000000000000';
const ids = (count: number) => Array.from({ length: count }, (_, at) => `tk_01K${String(at).padStart(23, '0')}`);

/** Returns characters of four bytes, two UTF-16 code units and one code point each. */
const wide = (count: number) => '😀'.repeat(count);

/** Returns the errors of an input, as `<path> <code>`. */
const errorsOf = (schema: ObjectSchema, input: unknown) =>
  validate(schema, input).errors.map(({ path, code }) => `${path} ${code}`);

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
  /** Returns the codes of the errors of a field; an empty list if it is valid and unchanged. */
  function codesOf(field: string, value: unknown): string[] {
    const { output, errors } = validate(schema, { title: 't', [field]: value });
    if (errors.length === 0) expect(output).toMatchObject({ [field]: value });
    for (const { path } of errors) expect(path).toBe(field);
    return errors.map(({ code }) => code);
  }

  it.each<[string, unknown[]]>([
    ['title', ['x', wide(500)]],
    ['description', ['', wide(10_000)]],
    ['status', [...taskStatuses]],
    ['priority', [...taskPriorities]],
    ['assignedAgent', ['a'.repeat(64)]],
    ['projectId', [`proj_${'a'.repeat(64)}`, 'proj___proto__']],
    ['dependsOn', [[], ids(25)]],
  ])('accepts a valid %s', (field, values) => {
    for (const value of values) expect(codesOf(field, value)).toEqual([]);
  });

  it.each<[string, unknown[]]>([
    ['title', ['', ' \t\n\u00a0\u3000', wide(501)]],
    ['description', [wide(10_001)]],
    ['status', ['Done', 'constructor', null]],
    ['priority', ['urgent', null]],
    ['assignedAgent', ['QA', 'a#b', 'qa-reviewer\n', 'a'.repeat(65)]],
    ['projectId', ['docs', 'proj_', `proj_${'a'.repeat(65)}`]],
    ['dependsOn', [[id, id], ids(26)]],
  ])('rejects an invalid %s', (field, values) => {
    for (const value of values) expect(codesOf(field, value)).toEqual(['invalid_value']);
  });

  it.each<[string, unknown[]]>([
    ['title', [null, 1e3]],
    ['description', [{}]],
    ['dependsOn', [null, id]],
  ])('rejects a %s of another type', (field, values) => {
    for (const value of values) expect(codesOf(field, value)).toEqual(['invalid_type']);
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

it.each([
  'tk_1',
  'ag_01K00000000000000000000000',
  id.slice(3),
  id.toLowerCase(),
  `${id}0`,
  `${id}\n`,
  'tk_81K00000000000000000000000',
  'tk_01KIIIIIIIIIIIIIIIIIIIIIII',
])('%j is not the id of a task', (other) => {
  expect(validate(TaskId, id).errors).toEqual([]);
  expect(validate(TaskId, other).errors).toHaveLength(1);
});

describe('the query of a list', () => {
  it.each(['0', '000', '-1', '1e3', '5.0', '0x10', ' 5', '+5', '5\n', '٣', 'ten', 'NaN', 'Infinity'])(
    'rejects the limit %j',
    (limit) => expect(errorsOf(listTasks.query, { limit })).toEqual(['limit invalid_value']),
  );

  it.each(['-1', '-0', '1e3', '1.5', 'x', '9'.repeat(16)])('rejects the offset %s', (offset) => {
    expect(errorsOf(listTasks.query, { offset })).toEqual(['offset invalid_value']);
  });

  it('has a limit of 20 by default and of 100 at most', () => {
    expect(validate(listTasks.query, {}).output).toEqual({ limit: 20, offset: 0 });
    for (const limit of ['101', '9'.repeat(26)])
      expect(validate(listTasks.query, { limit, offset: '9'.repeat(15) }).output).toEqual({
        limit: 100,
        offset: 999_999_999_999_999,
      });
  });

  it.each([
    ['status', ['Done', '__proto__']],
    ['priority', ['urgent']],
    ['assigned_agent', ['Not Kebab', 'a#b', 'a\u0000']],
    ['project_id', ['docs']],
  ])('rejects an invalid %s', (filter, values) => {
    for (const value of values)
      expect(errorsOf(listTasks.query, { [filter]: value })).toEqual([`${filter} invalid_value`]);
  });
});

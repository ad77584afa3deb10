import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../lib/contract/endpoint.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { routes } from '../../lib/contract/routes.ts';
import { readToolInput, splitToolInput, toolOf } from '../../lib/tools/tool-definitions.ts';

const taskId = 'tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD';
const scoped = routes.filter(([, row]: readonly [string, Endpoint]) => row.scope && !row.offersTools);

/** Returns the details of the error that an input leads to. */
function detailsOf(act: () => unknown) {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_failed') return error.details;
    throw error;
  }
  throw new Error('The input was accepted.');
}

describe('the tool of an operation', () => {
  it('has the name of the operation in snake_case, and its words', () => {
    const { name, title, description } = toolOf('listTasks');
    expect({ name, title }).toEqual({ name: 'list_tasks', title: 'List tasks' });
    expect(description).toMatch(/^List tasks\. Returns the tasks that match all filters/);
  });

  it('has path parameters and body in one schema, and requires what the API requires', () => {
    const { inputSchema } = toolOf('delegateTask');
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(Object.keys(inputSchema.properties as object)).toEqual([
      'name',
      'toAgent',
      'taskId',
      'instruction',
      'context',
    ]);
    expect(inputSchema.required).toEqual(['name', 'toAgent', 'instruction']);
  });

  it('has the lists of a query as arrays', () => {
    const { properties } = toolOf('listExecutions').inputSchema as { properties: Record<string, unknown> };
    const items = { type: 'string', enum: ['results', 'subject'] };
    expect(properties.include).toMatchObject({ type: 'array', items, uniqueItems: true });
  });

  it('has the numbers of a query as numbers, with their defaults', () => {
    const { properties } = toolOf('listTasks').inputSchema as { properties: Record<string, unknown> };
    expect(properties.limit).toMatchObject({ type: 'integer', minimum: 1, default: 20 });
    expect(properties.offset).toMatchObject({ type: 'integer', minimum: 0, default: 0 });
  });

  it.each([
    ['getTask', { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }],
    ['createTask', { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }],
    ['updateTask', { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }],
    ['deleteTask', { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }],
    ['testWebhook', { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true }],
  ] as const)('of %s says what it may do', (operation, hints) => {
    expect(toolOf(operation).hints).toEqual(hints);
  });

  it.each(scoped)('of %s has a name that models accept, and a schema without references', (operation) => {
    const tool = toolOf(operation);
    expect(tool.name).toMatch(/^[a-z][a-z_]{0,63}$/);
    expect(tool.description.length).toBeGreaterThan(tool.title.length);
    expect(JSON.stringify(tool.inputSchema)).not.toContain('$ref');
  });

  it.each(scoped)('of %s names each path parameter of its row', (operation, row: Endpoint) => {
    const { properties = {}, required = [] } = toolOf(operation).inputSchema as Record<string, object>;
    for (const name of Object.keys(row.params ?? {})) {
      expect(properties).toHaveProperty(name);
      expect(required).toContain(name);
    }
  });

  it('has a name of its own', () => {
    const names = scoped.map(([operation]) => toolOf(operation).name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the input of a tool', () => {
  it('is split into path parameters, query and body', () => {
    expect(splitToolInput('updateTask', { id: taskId, status: 'done' })).toEqual({
      params: { id: taskId },
      query: {},
      body: { status: 'done' },
    });
    expect(splitToolInput('listTasks', { limit: 5, status: 'done' })).toEqual({
      params: {},
      query: { limit: '5', status: 'done' },
      body: undefined,
    });
    expect(splitToolInput('listExecutions', { include: ['results', 'subject'] }).query).toEqual({
      include: 'results,subject',
    });
  });

  it('is validated as a request, with defaults', () => {
    expect(readToolInput('createTask', { title: 'Write' })).toEqual({
      params: {},
      query: undefined,
      body: { title: 'Write', status: 'backlog', priority: 'medium', dependsOn: [] },
    });
    expect(readToolInput('listTasks', { limit: 500 }).query).toEqual({ limit: 100, offset: 0 });
    expect(readToolInput('listExecutions', { include: ['subject'] }).query).toMatchObject({ include: ['subject'] });
    expect(readToolInput('getTask', { id: taskId }).params).toEqual({ id: taskId });
  });

  it.each([
    ['a missing field', 'createTask', {}, [{ path: 'title', code: 'required', message: 'title is required' }]],
    [
      'an unknown field',
      'createTask',
      { title: 't', titel: 't' },
      [{ path: 'titel', code: 'unknown_field', message: '"titel" is not a known field (did you mean title?)' }],
    ],
    [
      'a field that requests cannot set',
      'createTask',
      { title: 't', createdAt: 'now' },
      [{ path: 'createdAt', code: 'read_only', message: 'createdAt cannot be set here; leave it out' }],
    ],
    [
      'an unknown filter',
      'listTasks',
      { state: 'done' },
      [
        {
          path: 'state',
          code: 'unknown_field',
          message: '"state" is not a known query parameter (did you mean status?)',
        },
      ],
    ],
    [
      'a filter that is no text',
      'listTasks',
      { status: null },
      [
        {
          path: 'status',
          code: 'invalid_value',
          message: 'status must be one of backlog, assigned, in_progress, qa_review, up_for_review, done',
        },
      ],
    ],
    [
      'half an item',
      'listTasks',
      { limit: 2.5 },
      [
        {
          path: 'limit',
          code: 'invalid_value',
          message: 'limit must be a whole number from 1, in plain decimal digits',
        },
      ],
    ],
    [
      'a list of what is no text',
      'listExecutions',
      { include: [{ toString: 1 }] },
      [
        {
          path: 'include',
          code: 'invalid_value',
          message: 'include must be one or more of results, subject, each once, separated by commas',
        },
      ],
    ],
    ['a missing id', 'getTask', {}, [{ path: 'id', code: 'required', message: 'id is required' }]],
    [
      'a malformed id',
      'getTask',
      { id: 'first' },
      [
        {
          path: 'id',
          code: 'invalid_value',
          message: 'id must be an id of the form tk_ followed by a ULID (26 characters)',
        },
      ],
    ],
    [
      'an id that is no text',
      'getTask',
      { id: 1 },
      [{ path: 'id', code: 'invalid_type', message: 'id must be a string' }],
    ],
  ] as const)('with %s leads to the details that the API sends', (_, operation, input, details) => {
    expect(detailsOf(() => readToolInput(operation, input))).toEqual(details);
  });

  it('leads to all errors at once', () => {
    const details = detailsOf(() => readToolInput('updateTask', { id: 'first', status: 'open', x: 1 }));
    expect(details.map(({ path, code }) => [path, code])).toEqual([
      ['id', 'invalid_value'],
      ['x', 'unknown_field'],
      ['status', 'invalid_value'],
    ]);
  });

  it('cannot name what every object inherits', () => {
    const input = JSON.parse('{"title":"t","__proto__":{"status":"done"},"constructor":1}');
    expect(detailsOf(() => readToolInput('createTask', input)).map(({ path }) => path)).toEqual([
      '__proto__',
      'constructor',
    ]);
    const filter = JSON.parse('{"__proto__":"x"}');
    expect(detailsOf(() => readToolInput('listTasks', filter)).map(({ path }) => path)).toEqual(['__proto__']);
  });
});

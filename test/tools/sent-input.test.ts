import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../lib/contract/endpoint.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { routes } from '../../lib/contract/routes.ts';
import { readSentInput } from '../../lib/tools/sent-input.ts';
import { type OperationId, toolOf } from '../../lib/tools/tool-definitions.ts';

const id = 'tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD';

describe('the input of a tool as a model sent it', () => {
  it.each<[OperationId, Record<string, unknown>, Record<string, unknown>, string[]]>([
    [
      'createTask',
      { title: 'X', description: null, assignedAgent: null, projectId: null, dependsOn: null, priority: null },
      { title: 'X' },
      ['description', 'assignedAgent', 'projectId', 'dependsOn', 'priority'],
    ],
    [
      'createTask',
      { title: 'X', description: '', assignedAgent: '', projectId: '', dependsOn: '', priority: '', status: '' },
      { title: 'X', description: '' },
      ['assignedAgent', 'projectId', 'dependsOn', 'priority', 'status'],
    ],
    [
      'listTasks',
      { status: '', assigned_agent: '', limit: null, offset: 0 },
      { offset: 0 },
      ['status', 'assigned_agent', 'limit'],
    ],
    ['listAgents', { search: '', category: 'qa' }, { category: 'qa' }, ['search']],
    [
      'updateTask',
      { id, description: '', assignedAgent: null, title: 'X' },
      { id, title: 'X' },
      ['description', 'assignedAgent'],
    ],
    ['updateAgent', { name: 'a', soul: '', model: '', maxSteps: null }, { name: 'a' }, ['soul', 'model', 'maxSteps']],
    [
      'delegateTask',
      { name: 'a', toAgent: 'b', instruction: 'x', taskId: '', context: null },
      { name: 'a', toAgent: 'b', instruction: 'x' },
      ['taskId', 'context'],
    ],
    ['createTask', { title: null }, { title: null }, []],
    ['getTask', { id: '' }, { id: '' }, []],
    ['updateTask', { id, title: '' }, { id, title: '' }, []],
    ['createTask', { title: 'X', titel: null }, { title: 'X', titel: null }, []],
    ['createTask', { title: 'X', constructor: null }, { title: 'X', constructor: null }, []],
  ])('of %s: %j is %j, without %j', (operation, sent, input, leftOut) => {
    const read = readSentInput(operation, sent);
    expect(read.input).toEqual(input);
    if (leftOut.length === 0) expect(read.note).toBeUndefined();
    else expect(read.note).toContain(`Left out, because null or empty: ${leftOut.join(', ')}.`);
  });

  it.each<[OperationId, Record<string, unknown>, Record<string, unknown>]>([
    ['createTask', { title: '["X"]', dependsOn: `["${id}"]` }, { title: '["X"]', dependsOn: [id] }],
    ['executeAgent', { name: 'a', input: '{}', context: '{"a": 1}' }, { name: 'a', input: '{}', context: { a: 1 } }],
    ['listExecutions', { include: '["results"]' }, { include: ['results'] }],
    ['createTask', { title: 'X', dependsOn: id }, { title: 'X', dependsOn: id }],
    ['createTask', { title: 'X', dependsOn: '{}' }, { title: 'X', dependsOn: '{}' }],
    ['executeAgent', { context: '{"a": 1e999}' }, { context: '{"a": 1e999}' }],
    ['executeAgent', { context: '{"a":' }, { context: '{"a":' }],
  ])('of %s: JSON text in %j is a value where a list or an object belongs', (operation, sent, input) => {
    expect(readSentInput(operation, sent)).toEqual({ input, note: undefined });
  });

  it.each([[['description', 'assignedAgent']], ['["description", "assignedAgent"]']])(
    'clears fields by clear: %j',
    (clear) => {
      expect(readSentInput('updateTask', { id, clear }).input).toEqual({ id, description: null, assignedAgent: null });
      expect(readSentInput('updateTask', { id, clear, assignedAgent: '' }).input).toMatchObject({
        assignedAgent: null,
      });
    },
  );

  it.each<[unknown, object, RegExp]>([
    [['title'], {}, /^clear\.0 must be one of description, assignedAgent, projectId\.$/],
    [['description', 7], {}, /^clear\.1 must be one of /],
    ['description', {}, /^clear must be an array\.$/],
    [['description'], { description: 'X' }, /^clear\.0 names description, which also has a value; send one of them\.$/],
  ])('rejects clear: %j', (clear, more, message) => {
    const read = () => readSentInput('updateTask', { id, clear, ...more });
    expect(read).toThrow(ApiError);
    expect(read).toThrow(message);
  });

  it('has no clear if nothing can be cleared', () => {
    expect(readSentInput('createTask', { title: 'X', clear: [] }).input).toEqual({ title: 'X', clear: [] });
  });
});

const scoped = routes.filter(([, row]: readonly [string, Endpoint]) => row.scope && !row.offersTools);

/** Returns all keywords of a schema with their values, without properties that have the name of a keyword. */
function keywordsOf(schema: object): [string, unknown][] {
  return Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    const inner =
      typeof value === 'object' && value !== null ? Object.values(value).filter((one) => typeof one === 'object') : [];
    if (keyword === 'properties') return inner.flatMap((one) => keywordsOf(one as object));
    return [[keyword, value], ...(typeof value === 'object' && value !== null ? keywordsOf(value) : [])];
  });
}

describe('the schema of the tool', () => {
  it.each(scoped)('of %s has only limits that every model server can read', (operation) => {
    for (const [keyword, value] of keywordsOf(toolOf(operation).inputSchema)) {
      if (keyword === 'pattern') expect(value).toMatch(/^\^[^\\]*\$$/);
      if (/^m(ax|in)(Length|Items)$/.test(keyword)) expect(value).toBeLessThan(2_000);
    }
  });

  it('keeps limits that they can read', () => {
    const { properties } = toolOf('createTask').inputSchema as { properties: Record<string, object> };
    expect(properties.title).toMatchObject({ minLength: 1, maxLength: 500 });
    expect(properties.assignedAgent).toMatchObject({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 64 });
    expect(properties.dependsOn).toMatchObject({
      maxItems: 25,
      items: { pattern: expect.stringMatching(/^\^tk_.*\$$/) },
    });
    expect(properties.description).not.toHaveProperty('maxLength');
  });

  it('names the fields that it can clear, and does not say that null clears them', () => {
    const { description, inputSchema } = toolOf('updateTask');
    const { properties } = inputSchema as { properties: Record<string, object> };
    expect(properties.clear).toMatchObject({ items: { enum: ['description', 'assignedAgent', 'projectId'] } });
    expect(JSON.stringify([description, properties])).not.toMatch(/`null`|"null"/);
  });
});

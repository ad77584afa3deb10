import { describe, expect, it } from 'vitest';
import { createTaskCallers } from '../functions/kanban-tasks/task-caller.ts';
import { fc } from '../seeded.ts';
import { anyText } from './any-text.ts';

const { newTaskCaller } = await createTaskCallers();
const board = await newTaskCaller();

const oddName = fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '', 'id', 'version', 'Title');
const field = fc.constantFrom('title', 'description', 'status', 'priority', 'assignedAgent', 'projectId', 'dependsOn');
const value = fc.oneof(
  fc.jsonValue(),
  anyText,
  fc.array(anyText),
  fc.constantFrom(null, 'done', 'low', 'qa-reviewer', 'proj_1', 'tk_01K00000000000000000000000', 1e300, -0),
);
const anyBody = fc
  .array(fc.tuple(fc.oneof({ weight: 4, arbitrary: field }, oddName, anyText), value), { maxLength: 6 })
  .map((entries) => `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(',')}}`);

describe('random input leads to a status below 500', () => {
  it('as the body of a create and of a patch', async () => {
    const id = await board.put();
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyBody, fc.json(), anyText), async (body) => {
        expect((await board.createTask({ body })).status).toBeLessThan(500);
        expect((await board.updateTask({ params: { id }, body })).status).toBeLessThan(500);
      }),
      { numRuns: 150 },
    );
  });

  it('as the query of a list', async () => {
    const name = fc.oneof(
      fc.constantFrom('status', 'priority', 'assigned_agent', 'project_id', 'limit', 'offset'),
      oddName,
      anyText,
    );
    const one = fc.oneof(fc.nat().map(String), fc.constantFrom('done', 'low', '%', '%zz', '%00', '+1', ''), anyText);
    const query = fc
      .array(fc.tuple(name, one), { maxLength: 4 })
      .map((all) => all.map((pair) => pair.join('=')).join('&'));
    await fc.assert(
      fc.asyncProperty(query, async (sent) => {
        expect((await board.listTasks({ query: sent })).status).toBeLessThan(500);
      }),
      { numRuns: 150 },
    );
  });

  it('as an id', async () => {
    const ulid = fc.string({
      unit: fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
      minLength: 26,
      maxLength: 26,
    });
    const id = fc.oneof(
      ulid.map((letters) => `tk_${letters}`),
      oddName,
      // A URL cannot carry a lone surrogate.
      anyText.map((text) => text.toWellFormed()),
    );
    await fc.assert(
      fc.asyncProperty(id, async (sent) => {
        expect((await board.getTask({ params: { id: sent } })).status).toBe(404);
        expect((await board.deleteTask({ params: { id: sent } })).status).toBe(404);
      }),
      { numRuns: 100 },
    );
  });

  it('as a header', async () => {
    const id = await board.put();
    const name = fc.constantFrom('Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'X-Request-Id');
    await fc.assert(
      fc.asyncProperty(name, anyText, async (header, sent) => {
        const headers = { [header]: sent };
        expect((await board.createTask({ body: { title: 't' }, headers })).status).toBeLessThan(500);
        expect((await board.updateTask({ params: { id }, body: { title: sent }, headers })).status).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
  });
});

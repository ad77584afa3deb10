import { beforeEach, describe, expect, it } from 'vitest';
import { toolCapabilities } from '../../lib/contract/agents/agents.ts';
import type { Comment } from '../../lib/contract/tasks/comments.ts';
import { runAs } from '../../lib/table/access/current-request.ts';
import { listComments } from '../../lib/tasks/discussion/comments.ts';
import { grantedTools } from '../../lib/tools/agent-tools.ts';
import { createToolCaller, type ToolCaller } from './tool-caller.ts';

const invalid = ['validation_failed', 'invalid'];
let caller: ToolCaller;
let id: string;
beforeEach(async () => {
  caller = await createToolCaller();
  ({ id } = await caller.board.put());
});

const propertiesOf = (name: string) =>
  Object.keys(grantedTools(toolCapabilities).find((tool) => tool.name === name)?.inputSchema.properties as object);

describe('the tool comment', () => {
  it('is granted by tasks.write, and takes a task and a text', () => {
    const granted = toolCapabilities.filter((one) => grantedTools([one]).some(({ name }) => name === 'comment'));
    expect([granted, propertiesOf('comment')]).toEqual([['tasks.write'], ['id', 'text']]);
  });

  it('comments in the name of the agent, once for a step', async () => {
    const { board, organization, agent, execution } = caller;
    const by = { kind: 'agent', name: agent.name, id: agent.id } as const;
    const step = { execution, number: 1 };
    const comment = () => caller.call('comment', { id, text: 'Half of it.' }, { step });
    const { output, recorded } = await runAs({ ...by, executionId: execution.id }, comment);
    expect(recorded).toBe(true);
    expect(output.data).toMatchObject({ text: 'Half of it.', author: by });
    await runAs({ ...by, executionId: execution.id }, comment).catch(() => undefined);
    const { items, total } = await listComments(board, organization, id, { limit: 10, offset: 0 });
    expect([items.map(({ id: commentId }) => commentId), total]).toEqual([[(output.data as Comment).id], 1]);
  });

  it('comments on tasks of the organization only, with a text that shows something', async () => {
    const other = await createToolCaller();
    const { id: theirs } = await other.board.put();
    expect(await caller.rejection('comment', { id: theirs, text: 'Hi.' })).toEqual(['not_found']);
    for (const text of ['', ' \u200b', 'x'.repeat(10_001)])
      expect(await caller.rejection('comment', { id, text })).toEqual(invalid);
  });
});

it('get_task shows no result: the scopes of its agent do not cover executions of others', async () => {
  expect(propertiesOf('get_task')).toEqual(['id']);
  expect(await caller.rejection('get_task', { id, include: 'result' })).toEqual(invalid);
});

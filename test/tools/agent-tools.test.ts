import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import { toolCapabilities } from '../../lib/contract/agents/agents.ts';
import type { Delegation } from '../../lib/contract/executions/executions.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { Task, TaskDetail } from '../../lib/contract/tasks/tasks.ts';
import { runAs } from '../../lib/table/access/current-request.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { AlreadyDone, transact } from '../../lib/table/access/transact.ts';
import type { ExecutionHead, RunningExecution } from '../../lib/table/executions/execution-items.ts';
import { readDelegation } from '../../lib/table/executions/executions.ts';
import { LeaseLost } from '../../lib/table/executions/lease-writes.ts';
import { readRunningExecutions } from '../../lib/table/executions/running-executions.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { listComments } from '../../lib/tasks/discussion/comments.ts';
import { grantedTools } from '../../lib/tools/agent-tools.ts';
import { interceptTable } from '../table/fixtures/intercepted-table.ts';
import { agents, always } from '../table/tasks/test-table.ts';
import { createToolCaller, type ToolCaller } from './tool-caller.ts';

const notPermitted = ['insufficient_scope'];
const invalid = ['validation_failed', 'invalid'];
const absent = 'tk_01K00000000000000000000000';
const [otherAgent] = agents;

let caller: ToolCaller;
beforeEach(async () => {
  caller = await createToolCaller();
});

const namesFor = (...capabilities: string[]) => grantedTools(capabilities).map(({ name }) => name);

describe('the tools of an agent', () => {
  it.each([
    [[], []],
    [['html', 'tasks', 'TASKS.READ'], []],
    [['tasks.read'], ['list_tasks', 'get_task']],
    [['tasks.write'], ['get_task', 'create_task', 'update_task', 'comment']],
    [['delegate'], ['list_agents', 'delegate_task']],
    [['skills'], ['read_skill']],
    [
      ['skills', 'delegate', 'css', 'tasks.write', 'tasks.read'],
      ['list_tasks', 'get_task', 'create_task', 'update_task', 'comment', 'list_agents', 'delegate_task', 'read_skill'],
    ],
  ])('with the capabilities %j are %j', (capabilities, names) => {
    expect(namesFor(...capabilities)).toEqual(names);
  });

  it('have no field for the calling agent, and only the statuses that agents may set', () => {
    const fieldsOf = (name: string) => {
      const { inputSchema } = grantedTools(toolCapabilities).find((tool) => tool.name === name) ?? {};
      return inputSchema as { properties: Record<string, { enum?: string[] }>; required: string[] };
    };
    expect(fieldsOf('delegate_task')).toMatchObject({ required: ['toAgent', 'instruction'] });
    expect(Object.keys(fieldsOf('delegate_task').properties)).toEqual(['toAgent', 'taskId', 'instruction', 'context']);
    expect(Object.keys(fieldsOf('read_skill').properties)).toEqual(['skillId']);
    const settable = ['backlog', 'assigned', 'in_progress', 'qa_review'];
    for (const name of ['create_task', 'update_task']) expect(fieldsOf(name).properties.status?.enum).toEqual(settable);
    expect(fieldsOf('list_tasks').properties.status?.enum).toContain('done');
  });

  it('have no ifMatch, which is for agents outside of executions', async () => {
    expect(JSON.stringify(grantedTools(toolCapabilities))).not.toContain('ifMatch');
    const { id } = (await caller.call('create_task', { title: 'Draw' })).output.data as Task;
    const { output } = await caller.call('update_task', { id, title: 'Build', ifMatch: 'x' });
    expect(output.error).toMatchObject({
      code: 'validation_failed',
      details: [{ path: 'ifMatch', code: 'unknown_field' }],
    });
    expect((await caller.call('get_task', { id })).output).toMatchObject({ data: { title: 'Draw' } });
  });

  it('that are not granted or do not exist are unknown, and the error names those that can be used', async () => {
    const by = { ...caller.agent, capabilities: ['tasks.read'] };
    for (const name of ['create_task', 'delete_task', 'constructor']) {
      expect(await caller.rejection(name, { title: 'A task' }, { by })).toEqual(['not_found', 'invalid']);
      const { output } = await caller.call(name, {}, { by });
      expect(output.error?.message).toBe(`There is no tool "${name}"; use list_tasks, get_task.`);
    }
    const { output } = await caller.call('list_tasks', {}, { by: { ...by, capabilities: [] } });
    expect(output.error?.message).toBe('There is no tool "list_tasks"; answer without tools.');
  });

  it('name the nearest agents if there is no such agent, or its name is no name', async () => {
    const message = async (name: string, input: Record<string, unknown>) => {
      expect(await caller.rejection(name, input)).not.toEqual([]);
      return (await caller.call(name, input)).output.error?.message;
    };
    const nearest = expect.stringMatching(/ The nearest agents: helper, /);
    expect(await message('delegate_task', { toAgent: 'The Helper', instruction: 'x' })).toEqual(nearest);
    expect(await message('delegate_task', { toAgent: 'helpers', instruction: 'x' })).toEqual(nearest);
    expect(await message('create_task', { title: 'X', assignedAgent: 'Helper' })).toEqual(nearest);
    expect(await message('delegate_task', { toAgent: 'worker_', instruction: 'x' })).not.toContain('worker,');
    expect(await message('delegate_task', { toAgent: 7, instruction: 'x' })).toBe('toAgent must be a string.');
  });

  it('list the agents without their prompts', async () => {
    const { output } = await caller.call('list_agents', { search: 'help' });
    expect(output).toMatchObject({ data: [{ name: 'helper', status: 'active' }], pagination: { total: 1 } });
    expect(JSON.stringify(output)).not.toMatch(/systemPrompt|soul/);
  });

  it('leave out arguments that are null, and say so in a note', async () => {
    const input = {
      title: 'X',
      description: null,
      assignedAgent: null,
      projectId: null,
      dependsOn: null,
      priority: null,
    };
    const { outcome, output, recorded } = await caller.call('create_task', input);
    expect([outcome.isError, recorded]).toEqual([false, true]);
    expect(output).toMatchObject({
      data: { title: 'X', priority: 'medium' },
      note: 'Left out, because null or empty: description, assignedAgent, projectId, dependsOn, priority.',
    });
    const listed = await caller.call('list_tasks', { status: '', priority: null });
    expect(listed.output).toMatchObject({ data: [{ title: 'X' }], note: expect.stringContaining('status, priority') });
  });

  it('reject arguments as the API rejects a request, with all details', async () => {
    expect(await caller.rejection('create_task', 'unreadable')).toEqual(invalid);
    expect(await caller.rejection('create_task', { title: '', titel: 'A' })).toEqual(invalid);
    const { output } = await caller.call('create_task', { title: '', titel: 'A' });
    expect(output.error?.details?.map(({ path, code }) => [path, code])).toEqual([
      ['titel', 'unknown_field'],
      ['title', 'invalid_value'],
    ]);
    expect(await caller.rejection('create_task', { title: 'A', createdBy: caller.agent.id })).toEqual(invalid);
    expect(await caller.rejection('get_task', { id: '../agents' })).toEqual(invalid);
    expect(await caller.rejection('update_task', { id: absent, status: 'finished' })).toEqual(invalid);
    expect(await caller.rejection('delegate_task', { toAgent: 'helper', instruction: 'Do.', name: 'writer' })).toEqual(
      invalid,
    );
  });
});

describe('list_tasks and get_task', () => {
  it('show the tasks of the organization as the API does, 20 on a page', async () => {
    const first = await caller.board.put({ assignedAgent: otherAgent, description: 'Of another agent.' });
    for (let nth = 0; nth < 20; nth++) await caller.board.put({ title: `Task ${nth}`, dependsOn: [first.id] });
    const { output, recorded } = await caller.call('list_tasks');
    expect(output.pagination).toEqual({ limit: 20, offset: 0, total: 21 });
    expect([(output.data as Task[]).length, recorded]).toEqual([20, false]);
    const [only] = await caller.success<Task[]>('list_tasks', { assigned_agent: otherAgent, limit: 1, offset: 0 });
    const { version, dependents, assignedAgentId, ...shown } = first as StoredTask;
    expect(only).toEqual(shown);
    const dependent = (output.data as Task[]).find(({ id }) => id !== first.id) as Task;
    expect(await caller.success<TaskDetail>('get_task', { id: dependent.id })).toMatchObject({
      dependsOn: [{ id: first.id, title: first.title, status: 'backlog' }],
      blockedBy: [{ id: first.id }],
    });
  });

  it('do not find tasks of other organizations', async () => {
    const other = await createToolCaller();
    const { id } = await other.board.put();
    expect(await caller.rejection('get_task', { id })).toEqual(['not_found']);
    expect(await caller.success('list_tasks')).toEqual([]);
  });
});

describe('create_task', () => {
  it('creates a task, records its id in the same transaction, and lets the agent change it', async () => {
    const { id: dependency } = await caller.board.put();
    const input = { title: 'Part one', assignedAgent: 'helper', dependsOn: [dependency], status: 'assigned' };
    const { outcome, output, recorded } = await caller.call('create_task', input);
    expect([outcome.isError, recorded]).toEqual([false, true]);
    const { id } = output.data as Task;
    expect(output.data).toEqual({
      id,
      title: 'Part one',
      status: 'assigned',
      priority: 'medium',
      createdAt: expect.any(String),
    });
    expect(await caller.board.stored(id)).toMatchObject({ ...input, createdBy: caller.agent.id, version: 1 });
    await caller.success('update_task', { id, priority: 'high' });
    expect(await caller.board.faults()).toEqual([]);
  });

  it.each(['up_for_review', 'done'])('cannot create a task that is %s', async (status) => {
    expect(await caller.rejection('create_task', { title: 'A task', status })).toEqual(notPermitted);
  });

  it('rejects agents and dependencies that do not exist, also those of other organizations', async () => {
    const other = await createToolCaller();
    const { id } = await other.board.put();
    for (const fields of [{ assignedAgent: 'absent' }, { dependsOn: [absent] }, { dependsOn: [id] }])
      expect(await caller.rejection('create_task', { title: 'A task', ...fields })).toEqual(['unknown_reference']);
  });
});

describe('comment', () => {
  it('adds a comment of the current actor to any task of the organization, also to one of another agent, and records it once', async () => {
    const { id } = await caller.board.put({ assignedAgent: otherAgent });
    const { output, recorded } = await runAs({ kind: 'agent', name: 'worker', id: 'ag_1' }, () =>
      caller.call('comment', { id, text: 'Half of it.' }),
    );
    expect([output.data, recorded]).toMatchObject([
      { text: 'Half of it.', author: { kind: 'agent', name: 'worker' } },
      true,
    ]);
    const { items } = await listComments(caller.board, caller.board.organization, id, { limit: 20, offset: 0 });
    expect(items).toMatchObject([output.data as object]);
    expect((await caller.board.stored(id)).version).toBe(1);
  });

  it('cannot comment on an absent task, without text, or on a task of another organization', async () => {
    const other = await createToolCaller();
    const { id } = await other.board.put();
    for (const taskId of [absent, id])
      expect(await caller.rejection('comment', { id: taskId, text: 'Done.' })).toEqual(['not_found']);
    expect(await caller.rejection('comment', { id: absent, text: ' ' })).toEqual(invalid);
  });
});

describe('update_task', () => {
  it('changes tasks that the agent created in any execution, and those that are assigned to it', async () => {
    const { id: created } = await caller.success<Task>('create_task', { title: 'Mine', assignedAgent: 'helper' });
    const { id: assigned } = await caller.board.put({ assignedAgent: 'worker', description: 'Do it.' });
    const later = await caller.execute();
    for (const id of [created, assigned]) {
      const patch = { title: 'Another', clear: ['description'], status: 'qa_review', dependsOn: [] };
      const data = await caller.success<Task>('update_task', { id, ...patch }, { execution: later });
      expect(data).toMatchObject({ id, title: 'Another', status: 'qa_review' });
      expect(await caller.board.stored(id)).not.toHaveProperty('description');
    }
    expect(await caller.board.faults()).toEqual([]);
  });

  it('records the outcome also if it changes nothing', async () => {
    const { id } = await caller.board.put({ assignedAgent: 'worker', priority: 'low' });
    const { recorded } = await caller.call('update_task', { id, priority: 'low' });
    expect([recorded, (await caller.board.stored(id)).version]).toEqual([true, 1]);
  });

  it.each([
    ['no agent', {}],
    ['another agent', { assignedAgent: otherAgent }],
  ])('cannot change a task of %s', async (_, fields) => {
    const { id } = await caller.board.put(fields);
    expect(await caller.rejection('update_task', { id, assignedAgent: 'worker' })).toEqual(notPermitted);
    expect(await caller.rejection('update_task', { id })).toEqual(notPermitted);
  });

  it('cannot change a task that another agent created, or one that it has given away', async () => {
    const by = { ...caller.helper, capabilities: [...toolCapabilities] };
    const execution = await caller.execute({}, caller.helper);
    const { id } = await caller.success<Task>('create_task', { title: "The helper's" }, { by, execution });
    expect(await caller.rejection('update_task', { id, priority: 'low' })).toEqual(notPermitted);
    const { id: assigned } = await caller.board.put({ assignedAgent: 'worker' });
    await caller.success('update_task', { id: assigned, assignedAgent: 'helper' });
    expect(await caller.rejection('update_task', { id: assigned, assignedAgent: 'worker' })).toEqual(notPermitted);
  });

  describe('of an agent with the name of a deleted one', () => {
    const titled = { title: 'Changed' };

    /** Deletes `helper` and creates another agent with its name, which calls `update_task`. */
    async function replaceHelper() {
      const { app, organization, clock } = caller.board;
      await deleteAgent(app, organization, 'helper', always);
      clock.now += 1_000;
      const by = await caller.board.createAgent('helper', { capabilities: [...toolCapabilities] });
      return { by, execution: await caller.execute({}, by) };
    }

    it('cannot change a task that was assigned to the deleted one', async () => {
      const { id } = await caller.board.put({ assignedAgent: 'helper' });
      const options = await replaceHelper();
      const { output } = await caller.call('update_task', { id, ...titled }, options);
      expect(output.error?.message).toMatch(/ was assigned to a deleted agent named helper; create another task\.$/);
      await caller.board.patch(id, { title: 'Changed by a person' });
      expect(await caller.rejection('update_task', { id, ...titled }, options)).toEqual(notPermitted);
    });

    it('can change it after the task is assigned to the same name again, which is a change of the task', async () => {
      const { id } = await caller.board.put({ assignedAgent: 'helper' });
      const options = await replaceHelper();
      await caller.board.patch(id, { assignedAgent: 'helper' });
      await caller.board.patch(id, { assignedAgent: 'helper' });
      expect(await caller.board.stored(id)).toMatchObject({ version: 2, assignedAgentId: options.by.id });
      expect(await caller.success('update_task', { id, ...titled }, options)).toMatchObject(titled);
      expect(await caller.board.faults()).toEqual([]);
    });

    it('can change it after an execution of the agent has started on it', async () => {
      const { id } = await caller.board.put({ assignedAgent: 'helper' });
      const options = await replaceHelper();
      await caller.execute({ taskId: id }, options.by);
      expect(await caller.success('update_task', { id, priority: 'low' }, options)).toMatchObject({ priority: 'low' });
    });

    it('cannot be made to take over a task that is done', async () => {
      const { id } = await caller.success<Task>('create_task', { title: 'Mine', assignedAgent: 'helper' });
      await caller.board.patch(id, { status: 'done' });
      await replaceHelper();
      expect(await caller.rejection('update_task', { id, assignedAgent: 'helper' })).toEqual(notPermitted);
    });

    it('leaves the deleted one no right to a task that is assigned to the new one', async () => {
      const options = { by: caller.helper, execution: await caller.execute({}, caller.helper) };
      await replaceHelper();
      const { id } = await caller.board.put({ assignedAgent: 'helper' });
      const by = { ...caller.helper, capabilities: [...toolCapabilities] };
      expect(await caller.rejection('update_task', { id, ...titled }, { ...options, by })).toEqual(notPermitted);
    });

    it('keeps the tasks that a version without ids assigned, unless it was created after their last change', async () => {
      const [{ id: old }, { id: changed }] = [
        await caller.board.put({ assignedAgent: 'helper' }),
        await caller.board.put({ assignedAgent: 'worker' }),
      ];
      for (const id of [old, changed]) await forgetAssignedId(id);
      expect(await caller.success('update_task', { id: changed, ...titled })).toMatchObject(titled);
      const options = await replaceHelper();
      expect(await caller.rejection('update_task', { id: old, ...titled }, options)).toEqual(notPermitted);
      await caller.board.patch(old, { assignedAgent: 'helper' });
      expect(await caller.success('update_task', { id: old, ...titled }, options)).toMatchObject(titled);
    });

    /** Stores a task as a version did that knew only the names of agents. */
    async function forgetAssignedId(id: string): Promise<void> {
      const Key = keys.task(caller.organization, ulidOf(id));
      const UpdateExpression = 'REMOVE assignedAgentId';
      await transact(caller.board.table, [{ Update: { Key, UpdateExpression } }]);
    }
  });

  it('cannot find tasks that do not exist or are of other organizations', async () => {
    const other = await createToolCaller();
    const { id } = await other.board.put({ assignedAgent: 'worker' });
    for (const one of [absent, id])
      expect(await caller.rejection('update_task', { id: one, status: 'done' })).toEqual(['not_found']);
  });

  it.each(['up_for_review', 'done'])('cannot set the status %s', async (status) => {
    const { id } = await caller.board.put({ assignedAgent: 'worker' });
    expect(await caller.rejection('update_task', { id, status })).toEqual(notPermitted);
  });

  it('cannot change a task that is done', async () => {
    const { id } = await caller.board.put({ assignedAgent: 'worker', status: 'done', title: 'Done' });
    for (const patch of [
      { status: 'backlog' },
      { title: 'Another' },
      { priority: 'low' },
      { clear: ['assignedAgent'] },
    ])
      expect(await caller.rejection('update_task', { id, ...patch })).toEqual(notPermitted);
  });

  it.each(['qa_review', 'up_for_review'] as const)(
    'cannot move a task out of %s, but can change it',
    async (status) => {
      const { id } = await caller.board.put({ assignedAgent: 'worker', status });
      expect(await caller.rejection('update_task', { id, status: 'assigned' })).toEqual(notPermitted);
      await caller.success('update_task', { id, priority: 'low' });
    },
  );

  it('cannot change what the gates judge by while an execution works on the task: its own or another', async () => {
    const tasks = [
      await caller.board.put({ assignedAgent: 'worker' }),
      await caller.board.put({ assignedAgent: 'worker' }),
    ];
    const execution = await caller.execute({ taskId: tasks[0]?.id as string });
    await caller.execute({ taskId: tasks[1]?.id as string }, caller.helper);
    for (const { id } of tasks) {
      for (const patch of [{ status: 'qa_review' }, { title: 'Easy' }, { description: 'Nothing to do.' }])
        expect(await caller.rejection('update_task', { id, ...patch }, { execution })).toEqual(notPermitted);
      await caller.success('update_task', { id, status: 'in_progress', priority: 'low' }, { execution });
    }
  });

  it('closes no cycle of dependencies', async () => {
    const { id } = await caller.board.put({ assignedAgent: 'worker' });
    const { id: part } = await caller.success<Task>('create_task', { title: 'A part', dependsOn: [id] });
    expect(await caller.rejection('update_task', { id, dependsOn: [part] })).toEqual(['dependency_cycle']);
  });

  it('decides again after a conflict', async () => {
    const { id } = await caller.board.put({ assignedAgent: 'worker' });
    let isFirst = true;
    const through = interceptTable(caller.board.table, async (send, { input }) => {
      if ('TransactItems' in input && isFirst) {
        isFirst = false;
        await caller.board.patch(id, { assignedAgent: otherAgent });
      }
      return send();
    });
    const { output, recorded } = await caller.call('update_task', { id, priority: 'low' }, { through });
    expect([output.error?.code, recorded]).toEqual(['insufficient_scope', false]);
    expect(await caller.board.stored(id)).toMatchObject({ priority: 'medium', version: 2 });
  });
});

describe('delegate_task', () => {
  const ask = { toAgent: 'helper', instruction: 'Write the tests.' };

  /** Returns the head of the execution that a delegation has started. */
  const startedBy = async ({ delegationId }: Delegation) => {
    const heads = await readRunningExecutions(caller.board, caller.organization, caller.helper.id, undefined);
    return heads.find((head) => head.delegationId === delegationId) as ExecutionHead;
  };

  it('starts an execution of the other agent whose chain contains this execution, and not the others of the agent', async () => {
    await caller.execute({ ancestors: [caller.helper.id], depth: 3 });
    const execution = await caller.execute({ ancestors: ['ag_first'], depth: 1 });
    const delegation = await caller.success<Delegation>('delegate_task', ask, { execution });
    expect(delegation).toMatchObject({ fromAgent: 'worker', toAgent: 'helper', status: 'accepted' });
    expect(await readDelegation(caller.board, caller.organization, delegation.delegationId)).toEqual(delegation);
    expect(await startedBy(delegation)).toMatchObject({
      delegatedBy: 'worker',
      ancestors: ['ag_first', caller.agent.id],
      depth: 2,
    });
  });

  it('rejects a delegation to itself, to an agent of the chain, beyond three delegations, and to unknown or inactive agents', async () => {
    await caller.board.createAgent('sleeper', { status: 'inactive' });
    const to = (toAgent: string, execution: RunningExecution = caller.execution) =>
      caller.rejection('delegate_task', { ...ask, toAgent }, { execution });
    expect(await to('worker')).toEqual(['self_delegation']);
    expect(await to('absent')).toEqual(['unknown_reference']);
    expect(await to('sleeper')).toEqual(['agent_not_active']);
    const chain = { ancestors: [caller.helper.id], depth: 1 };
    expect(await to('helper', await caller.execute(chain))).toEqual(['delegation_cycle']);
    expect(await to('helper', await caller.execute({ ancestors: ['ag_first'], depth: 3 }))).toEqual([
      'delegation_too_deep',
    ]);
  });

  it('hands on the task of the execution, or a task that the agent may change, and no other', async () => {
    const { id: taskId } = await caller.board.put({ assignedAgent: otherAgent });
    const execution = await caller.execute({ taskId });
    await caller.success('delegate_task', { ...ask, taskId }, { execution });
    expect(await caller.board.stored(taskId)).toMatchObject({ owner: execution.id, version: 2 });
    const { id: created } = await caller.success<Task>('create_task', { title: 'A part' });
    await caller.success('delegate_task', { ...ask, taskId: created });
    expect(await caller.board.stored(created)).toMatchObject({ status: 'in_progress', assignedAgent: 'helper' });
    const { id: other } = await caller.board.put({ assignedAgent: 'helper' });
    expect(await caller.rejection('delegate_task', { ...ask, taskId: other })).toEqual(notPermitted);
    expect(await caller.rejection('delegate_task', { ...ask, taskId })).toEqual(notPermitted);
    const foreign = await (await createToolCaller()).board.put({ assignedAgent: 'worker' });
    for (const id of [absent, foreign.id])
      expect(await caller.rejection('delegate_task', { ...ask, taskId: id })).toEqual(['unknown_reference']);
  });

  it('rejects a blocked task, and a start beyond the limits of the organization', async () => {
    const { id: dependency } = await caller.board.put();
    const { id: taskId } = await caller.board.put({ assignedAgent: 'worker', dependsOn: [dependency] });
    expect(await caller.rejection('delegate_task', { ...ask, taskId })).toEqual(['task_blocked']);
    const full = await createToolCaller({ cap: 1 });
    expect(await full.rejection('delegate_task', ask)).toEqual(['rate_limited']);
  });
});

describe('read_skill', () => {
  it('returns the text of an assigned skill', async () => {
    const { output, recorded } = await caller.call('read_skill', { skillId: 'sk_drawing' });
    expect(output).toEqual({
      data: { id: 'sk_drawing', name: 'drawing', description: 'drawing, described', body: 'How to do drawing.' },
    });
    expect(recorded).toBe(false);
  });

  it('does not find a skill that is not assigned, or that the catalogue does not have', async () => {
    const forgetful = await createToolCaller({ skills: ['juggling'] });
    expect(await caller.rejection('read_skill', { skillId: 'sk_reading' })).toEqual(['not_found']);
    expect(await forgetful.rejection('read_skill', { skillId: 'sk_juggling' })).toEqual(['not_found']);
  });
});

describe('a change by a tool is made exactly if its step has ended', () => {
  /** Calls that change something, by the name of their tool. */
  const inputs = async () => {
    const { id } = await caller.board.put({ assignedAgent: 'worker' });
    return Object.entries({
      create_task: { title: 'A task' },
      update_task: { id, title: 'Another' },
      delegate_task: { toAgent: 'helper', instruction: 'Do it.' },
    });
  };

  it('so a worker without the lease changes nothing', async () => {
    for (const [name, input] of await inputs()) {
      const before = await caller.board.dump();
      const lost = { ...caller.execution, claim: 'another lease' };
      await expect(caller.call(name, input, { execution: lost })).rejects.toThrow(LeaseLost);
      expect(await caller.board.dump()).toEqual(before);
    }
  });

  it('so a step that has ended is not carried out again', async () => {
    for (const [nth, [name, input]] of (await inputs()).entries()) {
      const step = { execution: caller.execution, number: 1_000 + nth };
      await caller.success(name, input, { step });
      const after = await caller.board.dump();
      await expect(caller.call(name, input, { step })).rejects.toThrow(AlreadyDone);
      expect(await caller.board.dump()).toEqual(after);
    }
  });

  it('and a fault of the table is no outcome', async () => {
    const outage = new Error('The table is gone.');
    const through = interceptTable(caller.board.table, () => Promise.reject(outage));
    for (const [name, input] of await inputs())
      await expect(caller.call(name, input, { through })).rejects.toThrow(outage);
  });
});

it('two concurrent calls of the same step create one task', async () => {
  const step = { execution: caller.execution, number: 7 };
  const results = await Promise.allSettled([1, 2].map(() => caller.call('create_task', { title: 'One' }, { step })));
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await caller.success<Task[]>('list_tasks')).toHaveLength(1);
});

import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { taskPriorities, taskStatuses } from '../../lib/contract/tasks/tasks.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { queryItems } from '../../lib/table/access/reads.ts';
import { type StoredTask, taskFrom } from '../../lib/table/tasks/task-items.ts';
import { fc, testSeed } from '../seeded.ts';
import { agents } from '../table/tasks/test-table.ts';
import { createToolCaller, type ToolCaller } from './tool-caller.ts';

/** A random call. It names tasks by numbers, modulo the number of tasks at that time. */
type Call = { name: string; target: number; dependsOn?: number[] | undefined; fields: Record<string, unknown> };

const assignedAgent = fc.constantFrom('worker', 'helper', agents[0]);
const texts = fc.constantFrom('Another', 'A third');
const fields = {
  ...{ status: fc.constantFrom(...taskStatuses), priority: fc.constantFrom(...taskPriorities) },
  ...{ description: texts, assignedAgent },
};
const target = fc.nat(1_000);
const dependsOn = fc.option(fc.array(target, { maxLength: 2 }), { nil: undefined, freq: 4 });
const created = fc.record({ title: texts, ...fields }, { requiredKeys: ['title'] });
const patch = fc.record({ title: texts, ...fields }, { requiredKeys: [] });
const delegated = fc.record({ toAgent: fc.constantFrom('worker', 'helper', agents[0]), instruction: texts });

const callOf = (name: string, of: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<Call> =>
  fc.record({ name: fc.constant(name), target, dependsOn, fields: of });

const anyCall = fc.oneof(
  { weight: 1, arbitrary: callOf('create_task', created) },
  { weight: 8, arbitrary: callOf('update_task', patch) },
  { weight: 1, arbitrary: callOf('delegate_task', delegated) },
);

/** Returns the input of a call, and its dependencies without duplicates. */
function inputOf({ name, target, dependsOn, fields }: Call, tasks: readonly StoredTask[]): Record<string, unknown> {
  const idAt = (at: number) => (tasks[at % tasks.length] as StoredTask).id;
  if (name === 'delegate_task') return { ...fields, taskId: idAt(target) };
  const edges = dependsOn && { dependsOn: [...new Set(dependsOn.map(idAt))] };
  return name === 'create_task' ? { ...fields, ...edges } : { ...fields, ...edges, id: idAt(target) };
}

/** Returns all tasks of the board. */
async function readBoard({ board: { table }, organization }: ToolCaller): Promise<StoredTask[]> {
  return (await Array.fromAsync(queryItems(table, { pk: keys.tasks(organization) }))).map(taskFrom);
}

/** Fills the board: tasks in each status of the agent, of another agent and of no agent, and two in an execution. */
async function fillBoard({ board, execute, helper, call }: ToolCaller) {
  for (const status of taskStatuses) {
    for (const assignedAgent of ['worker', agents[0], undefined])
      await board.put({ status, ...(assignedAgent && { assignedAgent }) });
    const { output } = await call('create_task', { title: 'Created by the agent', assignedAgent: 'helper' });
    await board.patch((output.data as { id: string }).id, { status });
  }
  const { id: own } = await board.put({ assignedAgent: 'worker' });
  const { id: other } = await board.put({ assignedAgent: 'worker' });
  await execute({ taskId: other }, helper);
  return { execution: await execute({ taskId: own }), inExecution: [own, other] };
}

/** Returns which rules a change of the board has broken. */
function brokenRules(
  before: readonly StoredTask[],
  after: readonly StoredTask[],
  agent: ToolCaller['agent'],
  inExecution: readonly string[],
): string[] {
  const broken: string[] = [];
  for (const task of before) {
    const { dependents: _, ...was } = task;
    const found = after.find(({ id }) => id === task.id);
    if (!found) {
      broken.push(`${task.id} is deleted`);
      continue;
    }
    const { dependents: others, ...is } = found;
    if (isDeepStrictEqual(is, was)) continue;
    if (was.createdBy !== agent.id && was.assignedAgent !== agent.name) broken.push('a task of others is changed');
    if (was.status === 'done') broken.push('a task that is done is changed');
    if (was.createdBy !== is.createdBy) broken.push('a task has another author');
    if (was.status === is.status && was.title === is.title && was.description === is.description) continue;
    if (inExecution.includes(was.id)) broken.push('a task in an execution is changed');
    if (was.status === is.status) continue;
    if (was.status.endsWith('review')) broken.push('a task in review is moved');
    if (['up_for_review', 'done'].includes(is.status)) broken.push('work is accepted');
  }
  for (const task of after.filter(({ id }) => !before.some((one) => one.id === id)))
    if (task.createdBy !== agent.id || ['up_for_review', 'done'].includes(task.status))
      broken.push('a task is created with a wrong status or author');
  return broken;
}

it(`whatever an agent calls, no rule of its tools is broken: seed ${testSeed}`, async () => {
  const caller = await createToolCaller();
  const { board, agent } = caller;
  const { execution, inExecution } = await fillBoard(caller);
  let tasks = await readBoard(caller);
  const outcomes = new Set<string | undefined>();
  for (const call of fc.sample(anyCall, { numRuns: 100, seed: testSeed })) {
    const { output, recorded } = await caller.call(call.name, inputOf(call, tasks), { execution });
    const now = await readBoard(caller);
    expect(brokenRules(tasks, now, agent, inExecution)).toEqual([]);
    if (!recorded) expect(now).toEqual(tasks);
    outcomes.add(output.error?.code);
    tasks = now;
  }
  expect(outcomes).toContain(undefined);
  expect(outcomes).toContain('insufficient_scope');
  expect(await board.faults()).toEqual([]);
});

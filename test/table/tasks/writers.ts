import { type TaskPatch, taskPriorities, taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { fc } from '../../seeded.ts';
import { type Known, projects } from './model.ts';
import { agents, errorOf, type TestTable } from './test-table.ts';

const dayMs = 24 * 60 * 60 * 1000;

type Create = { do: 'create'; day: number; fields: Omit<Known, 'id'>; dependsOn: number[] };
type Change = { do: 'change'; target: number; patch: TaskPatch; dependsOn?: number[] | undefined };
type Delete = { do: 'delete'; target: number };

/** A step of a writer. It names a task by a number, modulo the number of tasks that are known at that time. */
export type Step = Create | Change | Delete;

const status = fc.constantFrom(...taskStatuses);
const priority = fc.constantFrom(...taskPriorities);
const agent = fc.constantFrom(...agents);
const project = fc.constantFrom(...projects);
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const targets = (maxLength: number) => fc.array(fc.nat(1000), { maxLength });

const create: fc.Arbitrary<Create> = fc.record({
  do: fc.constant('create' as const),
  day: fc.integer({ min: 0, max: 150 }),
  fields: fc.record({ status, priority, assignedAgent: optional(agent), projectId: optional(project) }),
  dependsOn: targets(2),
});

const change: fc.Arbitrary<Change> = fc.record({
  do: fc.constant('change' as const),
  target: fc.nat(1000),
  patch: fc.record(
    { title: fc.string(), status, priority, assignedAgent: fc.option(agent), projectId: fc.option(project) },
    { requiredKeys: [] },
  ),
  dependsOn: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: targets(2) }),
});

const remove: fc.Arbitrary<Delete> = fc.record({ do: fc.constant('delete' as const), target: fc.nat(1000) });

/** Generates a script of `length` steps for the writers of a board. New tasks are spread over five months. */
export function script(length: number): fc.Arbitrary<Step[]> {
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: create },
    { weight: 5, arbitrary: change },
    { weight: 1, arbitrary: remove },
  );
  return fc.array(step, { minLength: length, maxLength: length, size: 'max' });
}

/** A task as it was created, and its changes from the responses to its writers. */
type Written = { created: Known; changes: { version: number; patch: TaskPatch }[]; deleted: boolean };

/** Error codes that concurrent writers can get. */
const expected = ['not_found', 'unknown_reference', 'dependency_cycle', 'has_dependents'];

/**
 * Runs a script with `count` concurrent writers. Returns the tasks that must exist afterwards, derived from the
 * requests and the versions in their responses. `missed` are tasks that were not in a list after their creation.
 */
export async function write(board: TestTable, steps: readonly Step[], count = 16) {
  const { organization, clock } = board;
  const start = clock();
  const written: Written[] = [];
  const missed: string[] = [];
  const writtenAt = (target: number) => written[target % written.length];
  const idsAt = (some: readonly number[]) => [...new Set(some.flatMap((one) => writtenAt(one)?.created.id ?? []))];

  const todo = {
    create: async ({ day, fields, dependsOn }: Create) => {
      clock.now = start + day * dayMs;
      const created = await board.put({ ...fields, dependsOn: idsAt(dependsOn) });
      const { status, priority, assignedAgent: agent, projectId: project } = created;
      const filter = { status, ...[{}, { priority }, { agent }, { project }, { priority, agent, project }][day % 5] };
      const { items } = await listTasks(board, organization, filter, { limit: 100, offset: 0 });
      if (!items.some(({ id }) => id === created.id)) missed.push(created.id);
      written.push({ created, changes: [], deleted: false });
    },
    change: async ({ target, patch, dependsOn }: Change) => {
      const task = writtenAt(target);
      if (!task) return;
      const whole = dependsOn ? { ...patch, dependsOn: idsAt(dependsOn) } : patch;
      const { version } = await board.patch(task.created.id, whole);
      task.changes.push({ version, patch });
    },
    delete: async ({ target }: Delete) => {
      const task = writtenAt(target);
      if (!task) return;
      await board.remove(task.created.id);
      task.deleted = true;
    },
  };

  const queue = steps.values();
  const writer = async () => {
    for (const step of queue) {
      const error = await errorOf(todo[step.do](step as never));
      if (error && !expected.includes(error.code)) throw error;
    }
  };
  await Promise.all(Array.from({ length: count }, writer));
  return { tasks: written.filter(({ deleted }) => !deleted).map(changed), missed };
}

/** Returns a task after its changes in the order of their versions; `null` removes a field. */
function changed({ created, changes }: Written): Known {
  const patches = changes.sort((a, b) => a.version - b.version).map(({ patch }) => patch);
  const { id, status, priority, assignedAgent, projectId } = Object.assign({ ...created }, ...patches);
  return { id, status, priority, ...(assignedAgent && { assignedAgent }), ...(projectId && { projectId }) };
}

import { isDeepStrictEqual } from 'node:util';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { executionEvents } from '../../../lib/executions/execution-events.ts';
import { type ExecutionHead, executionFrom } from '../../../lib/table/executions/execution-items.ts';
import { taskFrom } from '../../../lib/table/tasks/task-items.ts';
import type { Item } from '../../../lib/table/write.ts';
import { faultsOf } from '../../table/tasks/oracle.ts';
import { streamed } from '../../table-stream.ts';
import type { TestExecutions } from '../test-executions.ts';

/** All executions, and a sentence for each difference that was found. */
export type CheckedExecutions = { executions: ExecutionHead[]; wrong: string[] };

/** Compares lists, counters, metrics, outputs, tasks and events with the items of the executions. */
export async function checkExecutions(fixture: TestExecutions): Promise<CheckedExecutions> {
  const items = Object.values(await fixture.dump()) as Item[];
  const executions = items.filter(({ kind }) => kind === 'execution').map(executionFrom);
  const wrong = [
    ...(await faultsOf(fixture.table, fixture.organization)),
    ...wrongEnds(items, executions),
    ...wrongTasks(items, executions),
    ...(await wrongEvents(fixture, executions)),
  ];
  return { executions, wrong };
}

const differs = (what: string, found: unknown, expected: unknown): string[] =>
  isDeepStrictEqual(found, expected) ? [] : [`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`];

/** An execution that has ended has no lease, and has an output if it is completed. */
function wrongEnds(items: readonly Item[], executions: readonly ExecutionHead[]): string[] {
  return executions
    .filter(({ status }) => status !== 'running')
    .flatMap(({ id, status }) => {
      const own = items.filter(({ pk }) => String(pk).endsWith(ulidOf(id)));
      const head = own.find(({ sk }) => sk === 'M') ?? {};
      const outputs = own.filter(({ sk }) => String(sk).startsWith('OUT#'));
      return [
        ...differs(
          `lease of ${id}`,
          ['claim', 'leaseUntil', 'due', 'dueAt'].filter((field) => field in head),
          [],
        ),
        ...differs(`outputs of ${id}`, outputs.length, status === 'completed' ? 1 : 0),
      ];
    });
}

/** Returns the status that an execution gives its task (docs/architecture.md#the-task-of-an-execution). */
function statusOfTask({ status, selfTest, qaReview }: ExecutionHead): string {
  if (status === 'running') return 'in_progress';
  if (status === 'failed') return 'assigned';
  return selfTest === 'passed' && qaReview === 'passed' ? 'up_for_review' : 'qa_review';
}

/** Each execution has a separate task, or none. */
function wrongTasks(items: readonly Item[], executions: readonly ExecutionHead[]): string[] {
  const tasks = new Map(items.filter(({ kind }) => kind === 'task').map((item) => [taskFrom(item).id, taskFrom(item)]));
  return executions.flatMap((one) => {
    const task = tasks.get(one.taskId ?? '');
    const owner = one.status === 'running' ? one.id : undefined;
    return task ? differs(task.id, [task.status, task.owner], [statusOfTask(one), owner]) : [];
  });
}

/** The stream has one start of each execution, and then one end. */
async function wrongEvents(
  { service, organization }: TestExecutions,
  executions: readonly ExecutionHead[],
): Promise<string[]> {
  const published = (await streamed(service, 'execution')).flatMap(({ dynamodb }) => {
    const [before, after] = [dynamodb?.OldImage, dynamodb?.NewImage].map(
      (image) => image && executionFrom(unmarshall(image as never)),
    );
    if (after?.organization !== organization) return [];
    return executionEvents(before, after).map(({ event, data }) => ({ event, id: data.execution.id }));
  });
  const events = Map.groupBy(published, ({ id }) => id);
  return executions.flatMap(({ id, status }) => {
    const expected = ['agent.spawned', ...(status === 'running' ? [] : [`agent.${status}`])];
    return differs(
      `events of ${id}`,
      (events.get(id) ?? []).map(({ event }) => event),
      expected,
    );
  });
}

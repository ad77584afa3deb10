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

/**
 * Compares lists, counters, metrics, outputs, tasks and events with the items of executions that have ended, each with
 * its own task.
 *
 * @returns the executions, and a sentence for each difference
 */
export async function checkExecutions(
  fixture: TestExecutions,
): Promise<{ executions: ExecutionHead[]; wrong: string[] }> {
  const items = Object.values(await fixture.dump()) as Item[];
  const executions = items.filter(({ kind }) => kind === 'execution').map(executionFrom);
  const tasks = new Map(items.filter(({ kind }) => kind === 'task').map((item) => [taskFrom(item).id, taskFrom(item)]));
  const events = await eventsOf(fixture);
  const wrong = executions.flatMap((execution) => {
    const { id, status, taskId, selfTest, qaReview } = execution;
    const own = items.filter(({ pk }) => String(pk).endsWith(ulidOf(id)));
    const head = own.find(({ sk }) => sk === 'M') ?? {};
    const task = tasks.get(taskId ?? '');
    const isReviewed = selfTest === 'passed' && qaReview === 'passed';
    return [
      ...differs(`lease of ${id}`, 'leaseUntil' in head || 'claim' in head || 'due' in head || 'dueAt' in head, false),
      ...differs(
        `outputs of ${id}`,
        own.some(({ sk }) => String(sk).startsWith('OUT#')),
        status === 'completed',
      ),
      ...differs(`owner of the task of ${id}`, task?.owner, undefined),
      ...differs(
        `status of the task of ${id}`,
        task?.status,
        status === 'failed' ? 'assigned' : isReviewed ? 'up_for_review' : 'qa_review',
      ),
      ...differs(`events of ${id}`, events.get(id), ['agent.spawned', `agent.${status}`]),
    ];
  });
  return { executions, wrong: [...wrong, ...(await faultsOf(fixture.table, fixture.organization))] };
}

const differs = (what: string, found: unknown, expected: unknown): string[] =>
  isDeepStrictEqual(found, expected) ? [] : [`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`];

/** Returns the names of the events in the stream, by execution. */
async function eventsOf({ service }: TestExecutions): Promise<Map<string, string[]>> {
  const events = new Map<string, string[]>();
  for (const { dynamodb } of await streamed(service, 'execution')) {
    const [before, after] = [dynamodb?.OldImage, dynamodb?.NewImage].map(
      (image) => image && executionFrom(unmarshall(image as never)),
    );
    for (const { event, data } of executionEvents(before, after as ExecutionHead))
      events.set(data.execution.id, [...(events.get(data.execution.id) ?? []), event]);
  }
  return events;
}

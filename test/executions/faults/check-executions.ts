import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { taskStatuses } from '../../../lib/contract/tasks.ts';
import { executionEvents } from '../../../lib/executions/execution-events.ts';
import { type ExecutionHead, executionFrom, facetOf, listItemOf } from '../../../lib/table/execution-items.ts';
import { keys } from '../../../lib/table/keys.ts';
import { taskFrom } from '../../../lib/table/task-items.ts';
import type { Item } from '../../../lib/table/write.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { streamed } from '../../table-stream.ts';
import type { TestExecutions } from '../test-executions.ts';

/** All executions, and a sentence for each difference that was found. */
export type CheckedExecutions = { executions: ExecutionHead[]; wrong: string[] };

/** Compares lists, counters, metrics, tasks, outputs and events with the items of the executions. */
export async function checkExecutions(fixture: TestExecutions): Promise<CheckedExecutions> {
  const items = Object.values(await fixture.dump()) as Item[];
  const executions = items.filter(({ kind }) => kind === 'execution').map(executionFrom);
  const wrong = [
    ...wrongRows(fixture, items, executions),
    ...wrongNumbers(fixture, items, executions),
    ...wrongEnds(items, executions),
    ...(await wrongTasks(fixture, items, executions)),
    ...(await wrongEvents(fixture, executions)),
  ];
  return { executions, wrong };
}

const differs = (what: string, found: unknown, expected: unknown): string[] => {
  const [is, not] = [JSON.stringify(found), JSON.stringify(expected)];
  return is === not ? [] : [`${what}: ${is}, not ${not}`];
};
const sum = (numbers: unknown[]): number => (numbers as number[]).reduce((total, number) => total + (number ?? 0), 0);
const within = (items: readonly Item[], pk: string) => items.filter((item) => item.pk === pk);

/** Each list has two rows of each execution in it, and counters with their number. */
function wrongRows(
  { organization }: TestExecutions,
  items: readonly Item[],
  executions: readonly ExecutionHead[],
): string[] {
  const lists = new Map([[keys.executionScope(organization).rows, executions]]);
  for (const [agentId, own] of Map.groupBy(executions, (one) => one.agentId))
    lists.set(keys.executionScope(organization, ulidOf(agentId)).rows, own);
  return [...lists].flatMap(([pk, own]) => {
    const rows = own.flatMap((one) =>
      ['*', facetOf(one.status)].map((facet) => ({ sk: `${facet}#${ulidOf(one.id)}`, ...listItemOf(one) })),
    );
    const shown = (list: Item[]) =>
      list.map(({ pk: _, ...row }) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
    const counters = within(items, pk.replace(/^(O#[^#]+#)/, '$1C#'));
    return [
      ...differs(pk, shown(within(items, pk)), shown(rows)),
      ...(['running', 'completed', 'failed'] as const).flatMap((status) => {
        const number = own.filter((one) => one.status === status).length;
        return differs(`${pk} counts ${status}`, sum(counters.map((counter) => counter[facetOf(status)])), number);
      }),
    ];
  });
}

function wrongNumbers(
  { organization }: TestExecutions,
  items: readonly Item[],
  executions: readonly ExecutionHead[],
): string[] {
  const running = executions.filter(({ status }) => status === 'running').length;
  const [counter] = within(items, keys.running(organization).pk);
  return [
    ...differs('running', counter?.running ?? 0, running),
    ...[...Map.groupBy(executions, ({ agentId }) => agentId)].flatMap(([agentId, own]) => {
      const days = within(items, keys.metrics(organization, ulidOf(agentId)));
      const ended = own.filter(({ status }) => status !== 'running');
      const buckets = days.flatMap((day) => Object.entries(day).filter(([name]) => /^h\d+$/.test(name)));
      const counted = (name: string) => sum(days.map((day) => day[name]));
      return [
        ...differs('completed', counted('completed'), own.filter(({ status }) => status === 'completed').length),
        ...differs('failed', counted('failed'), own.filter(({ status }) => status === 'failed').length),
        ...differs('tokens', counted('tokens'), sum(ended.map(({ tokensUsed }) => tokensUsed))),
        ...differs('durations', counted('durationMs'), sum(ended.map(({ durationMs }) => durationMs))),
        ...differs('histogram', sum(buckets.map(([, number]) => number)), ended.length),
      ];
    }),
  ];
}

/** An execution that has ended has no lease, and has an output if it is completed. */
function wrongEnds(items: readonly Item[], executions: readonly ExecutionHead[]): string[] {
  return executions
    .filter(({ status }) => status !== 'running')
    .flatMap((one) => {
      const parts = items.filter(({ pk, sk }) => String(pk).endsWith(ulidOf(one.id)) && String(sk).startsWith('OUT#'));
      const head = items.find(({ pk, sk }) => String(pk).endsWith(ulidOf(one.id)) && sk === 'M');
      const left = ['claim', 'leaseUntil', 'due', 'dueAt'].filter((field) => head && field in head);
      return [
        ...differs(`${one.id} keeps`, left, []),
        ...differs(`${one.id} has outputs`, parts.length, one.status === 'completed' ? 1 : 0),
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
async function wrongTasks(
  { app, organization }: TestExecutions,
  items: readonly Item[],
  executions: readonly ExecutionHead[],
) {
  const found = items.filter(({ kind }) => kind === 'task').map(taskFrom);
  const wrong = executions.flatMap((one) => {
    const task = found.find(({ id }) => id === one.taskId);
    const owner = one.status === 'running' ? one.id : undefined;
    return task ? differs(task.id, [task.status, task.owner], [statusOfTask(one), owner]) : [];
  });
  for (const status of taskStatuses) {
    const { total } = await listTasks(app, organization, { status }, { limit: 1, offset: 0 });
    wrong.push(...differs(`tasks ${status}`, total, found.filter((task) => task.status === status).length));
  }
  return wrong;
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

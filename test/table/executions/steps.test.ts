import { beforeEach, describe, expect, it } from 'vitest';
import type { Item } from '../../../lib/table/access/write.ts';
import { noProgress, type RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import { cancelRunning, readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { readStepPage } from '../../../lib/table/executions/step-list.ts';
import {
  type ModelStep,
  readSteps,
  type StepChange,
  toolStepOf,
  writeSteps,
} from '../../../lib/table/executions/steps.ts';
import { at, createExecutionTable, type ExecutionTable, failed } from './execution-table.ts';

let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

const calls = [
  { id: 'a', name: 'create_task', input: { title: 'One' } },
  { id: 'b', name: 'create_task', input: { title: 'Two' } },
];
const model: ModelStep = { number: 1, kind: 'model', name: 'some.model', startedAt: at(1) };
const asked: ModelStep = { ...model, durationMs: 1000, tokensUsed: 5, content: '[]', calls };
const [first, second] = calls.map((call, nth) => toolStepOf(2 + nth, call, at(2 + nth)));
const ended = first && { ...first, durationMs: 1000, output: 'Made.', isError: false };

describe.each([false, true])('the steps of an execution (as version 0.2.0 stored them: %s)', (isFormer) => {
  let execution: RunningExecution;
  beforeEach(async () => {
    execution = await board.leased(await board.start(undefined, { isFormer }));
  });

  const head = async () => (await readExecutionHead(board, execution)) as RunningExecution;
  const write = (change: Omit<StepChange, 'progress'>) =>
    writeSteps(board, execution, { ...change, progress: noProgress });
  const page = async (offset = 0, limit = 20) => {
    const { items, total } = await readStepPage(board, await head(), { limit, offset });
    return { shown: items.map(({ number, input, error, durationMs }) => [number, input, error ?? durationMs]), total };
  };
  const stored = async () =>
    Object.values(await board.dump()).filter((item) => ((item as Item).sk as string).startsWith('ST#')).length;

  it('are read and shown with the one that runs, and its arguments', async () => {
    await write({ started: model });
    expect(await readSteps(board, await head())).toEqual([model]);
    expect(await page()).toEqual({ shown: [[1, 'Do it.', undefined]], total: 1 });
    await write({ ended: asked, started: first });
    await write({ ended, started: second });
    expect(await readSteps(board, await head())).toEqual([asked, ended, second]);
    const [one, two, three] = [
      [1, 'Do it.', 1000],
      [2, '{"title":"One"}', 1000],
      [3, '{"title":"Two"}', undefined],
    ];
    expect(await page()).toEqual({ shown: [one, two, three], total: 3 });
    expect(await page(0, 2)).toEqual({ shown: [one, two], total: 3 });
    expect(await page(2)).toEqual({ shown: [three], total: 3 });
    expect(await stored()).toBe(isFormer ? 3 : 2);
  });

  it('have the one that was interrupted by the end of the execution', async () => {
    await write({ started: model });
    await write({ ended: asked, started: first });
    await cancelRunning(board, await head(), failed({ error: 'cancelled' }), { task: undefined, records: [] });
    expect(await page()).toEqual({
      shown: [
        [1, 'Do it.', 1000],
        [2, '{"title":"One"}', 'cancelled'],
      ],
      total: 2,
    });
  });

  it('have no further one after the last has ended', async () => {
    await write({ started: model });
    await write({ ended: { ...model, durationMs: 1000, output: 'Done.' } });
    expect(await page()).toEqual({ shown: [[1, 'Do it.', 1000]], total: 1 });
    expect((await head()).step).toBeUndefined();
  });
});

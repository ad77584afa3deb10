import { beforeEach, expect, it } from 'vitest';
import { createContext } from '../../../../lib/context/context.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { insertExecution } from '../../../../lib/table/executions/executions.ts';
import { createExecutionTable, type ExecutionTable } from '../execution-table.ts';

const hourMs = 60 * 60_000;
let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

/** Starts an execution after a time in a process that has read nothing yet, and returns whether version 0.2.0 can read its lists. */
async function startsFormer(afterMs: number, formerLists = new Map<Organization, number>()): Promise<boolean> {
  board.clock.now += afterMs;
  const execution = board.newExecution();
  const writes = { dueAt: execution.startedAt, task: undefined, recordResponse: undefined };
  const stored = await insertExecution({ ...board, formerLists }, execution, { input: 'Do it.' }, writes);
  return stored.form === undefined;
}

it('for an hour after the first start of an organization, functions of version 0.2.0 can read the lists', async () => {
  const process = new Map<Organization, number>();
  expect(await startsFormer(0, process)).toBe(true);
  expect(await startsFormer(hourMs / 2)).toBe(true);
  expect(await startsFormer(hourMs / 2 - 1, process)).toBe(true);
  expect(await startsFormer(1, process)).toBe(false);
  expect(await startsFormer(0)).toBe(false);
  expect(await board.faults()).toEqual([]);
});

it('on one machine they are never written, and in AWS Lambda they are', () => {
  const { variables, clock, table } = board.app;
  const contextIn = (environment: object) =>
    createContext({ environment: { ...variables, ...environment }, clock, table });
  expect(contextIn({}).formerLists).toBeUndefined();
  expect(contextIn({ AWS_LAMBDA_FUNCTION_NAME: 'execute-agent' }).formerLists).toEqual(new Map());
});

import { ulid } from 'ulid';
import { expect } from 'vitest';
import { timeOf, timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { moveOnEnd, moveOnStart } from '../../../lib/executions/task-moves.ts';
import type { StoredAgent } from '../../../lib/table/agents/agent-items.ts';
import { insertAgent } from '../../../lib/table/agents/agents.ts';
import type { Ending, ExecutionInput, RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import { insertExecution, leaseExecution, type TaskMove } from '../../../lib/table/executions/executions.ts';
import type { StartContext } from '../../../lib/table/executions/running.ts';
import type { RecordResponse } from '../../../lib/table/idempotency.ts';
import type { StoredTask } from '../../../lib/table/tasks/task-items.ts';
import { readTask } from '../../../lib/table/tasks/tasks.ts';
import { storedAgent } from '../agents/agent-seed.ts';
import { createTestTable } from '../tasks/test-table.ts';

/** The time of the clock of a new board. */
const opening = Date.UTC(2026, 0, 1);

/** Returns the time `seconds` after the start of the clock. */
export const at = (seconds: number): string => timestamp(opening + seconds * 1000);

/** Returns a lease of 30 seconds. */
export const lease = (leaseId: string, from = 0) => ({ leaseId, now: at(from), until: at(from + 30) });

/** Returns the end of a completed execution. */
export const completed = (fields: Partial<Ending> = {}): Ending => ({
  status: 'completed',
  completedAt: at(5),
  durationMs: 5000,
  tokensUsed: 42,
  selfTest: 'passed',
  qaReview: 'failed',
  ...fields,
});

/** Returns the end of a failed execution. */
export const failed = (fields: Partial<Ending> = {}): Ending => ({
  ...completed({ selfTest: 'skipped', qaReview: 'skipped', error: 'It went wrong.' }),
  status: 'failed',
  ...fields,
});

/** The options of a start. */
type StartOptions = {
  input?: ExecutionInput;
  task?: TaskMove | undefined;
  recordResponse?: RecordResponse;
  /** Whether it is listed as version 0.2.0 did it. */
  isFormer?: boolean;
};

/** Returns a running execution that no worker has leased, by default of the agent `writer`. */
export const runningExecution = (fields: Partial<RunningExecution> = {}): RunningExecution => ({
  ...{ organization: 'org' as Organization, id: 'ex_01KE0000000000000000000004', model: 'some.model' },
  ...{ agentId: 'ag_01KE0000000000000000000000', agentName: 'writer' },
  ...{ status: 'running', startedAt: '2026-01-02T18:37:22.304Z', selfTest: 'pending', qaReview: 'pending', claims: 0 },
  ...fields,
});

/** An organization with executions. */
export type ExecutionTable = Awaited<ReturnType<typeof createExecutionTable>>;

/** Creates an organization with an agent; at most `cap` executions run concurrently. */
export async function createExecutionTable(cap = 50) {
  const board = await createTestTable();
  const { organization, clock } = board;
  const startMinutes: StartContext['startMinutes'] = new Map();
  const context = { ...board, runningCap: cap, limits: {} as StartContext['limits'], startMinutes };
  const createAgent = async (name: string, fields?: Partial<StoredAgent>) => {
    const agent = storedAgent({ name, ...fields }, clock());
    await insertAgent(board, organization, agent, undefined);
    return agent;
  };
  const agent = await createAgent('writer');
  const newExecution = (
    { id = `ex_${ulid(clock())}`, ...fields }: Partial<RunningExecution> = {},
    { id: agentId, name: agentName, model } = agent,
  ) => {
    const startedAt = timestamp(timeOf(ulidOf(id)));
    return runningExecution({ organization, id, agentId, agentName, model, startedAt, ...fields });
  };
  const start = async (
    execution = newExecution(),
    { input, task, recordResponse, isFormer = false }: StartOptions = {},
  ) => {
    const dueAt = timestamp(Date.parse(execution.startedAt) + 60_000);
    const formerLists = isFormer ? new Map([[organization, Number.POSITIVE_INFINITY]]) : undefined;
    return insertExecution({ ...context, formerLists }, execution, input ?? { input: 'Do it.' }, {
      dueAt,
      task,
      recordResponse,
    });
  };
  const stored = async (taskId: string) => (await readTask(board, organization, taskId)) as StoredTask;
  return {
    ...context,
    /** The first agent. */
    agent,
    createAgent,
    /** Returns a new execution, not stored. */
    newExecution,
    start,
    /** Reads the stored task. */
    stored,
    /** Starts an execution on a task. */
    startOn: async (taskId: string, by?: StoredAgent) => {
      const execution = newExecution({ taskId }, by);
      return start(execution, { task: moveOnStart(await stored(taskId), execution, false, at(0)) });
    },
    /** Leases an execution with the lease id `first`. Starts a new one if none is given. */
    leased: async (execution?: RunningExecution) => {
      const reference = execution ?? (await start());
      return (await leaseExecution(board, reference, lease('first'))) as RunningExecution;
    },
    /** Returns the change of the task of an execution at its end. */
    release: async ({ id, taskId }: RunningExecution, status: 'qa_review' | 'assigned' = 'qa_review') =>
      moveOnEnd(await stored(taskId as string), id, status, at(5)) as TaskMove,
    /** Returns the error of an action, which must write nothing. */
    failureOf: async (action: () => Promise<unknown>): Promise<unknown> => {
      const before = await board.dump();
      const failure = await action().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(await board.dump()).toEqual(before);
      return failure;
    },
  };
}

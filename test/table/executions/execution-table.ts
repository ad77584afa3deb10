import { ulid } from 'ulid';
import { timeOf, timestamp, ulidOf } from '../../../lib/contract/ids.ts';
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
import { createTestTable, type TestTable } from '../tasks/test-table.ts';

/** The time of the clock of a new board. */
const start = Date.UTC(2026, 0, 1);

/** Returns the time `seconds` after the start of the clock. */
export const at = (seconds: number): string => timestamp(start + seconds * 1000);

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
type StartOptions = { input?: ExecutionInput; task?: TaskMove | undefined; recordResponse?: RecordResponse };

/** An organization with executions; `agent` is its first agent. */
export type ExecutionTable = TestTable & {
  runningCap: number;
  limits: StartContext['limits'];
  startMinutes: StartContext['startMinutes'];
  agent: StoredAgent;
  /** Creates another agent. */
  createAgent: (name: string, fields?: Partial<StoredAgent>) => Promise<StoredAgent>;
  /** Returns a new execution, not stored. */
  newExecution: (fields?: Partial<RunningExecution>, agent?: StoredAgent) => RunningExecution;
  start: (execution?: RunningExecution, options?: StartOptions) => Promise<RunningExecution>;
  /** Starts an execution on a task. */
  startOn: (taskId: string, agent?: StoredAgent) => Promise<RunningExecution>;
  /** Leases an execution with the lease id `first`. Starts a new one if none is given. */
  leased: (execution?: RunningExecution) => Promise<RunningExecution>;
  /** Returns the change of the task of an execution at its end. */
  release: (execution: RunningExecution, status?: 'up_for_review' | 'qa_review' | 'assigned') => Promise<TaskMove>;
  /** Reads the stored task. */
  stored: (taskId: string) => Promise<StoredTask>;
};

/** Creates an organization with an agent; at most `cap` executions run concurrently. */
export async function createExecutionTable(cap = 50): Promise<ExecutionTable> {
  const board = await createTestTable();
  const { organization, clock } = board;
  const context = { ...board, runningCap: cap, limits: {}, startMinutes: new Map() };
  const createAgent: ExecutionTable['createAgent'] = async (name, fields) => {
    const agent = storedAgent({ name, ...fields }, clock());
    await insertAgent(board, organization, agent, undefined);
    return agent;
  };
  const agent = await createAgent('writer');
  const newExecution: ExecutionTable['newExecution'] = (fields, { id: agentId, name: agentName, model } = agent) => {
    const id = fields?.id ?? `ex_${ulid(clock())}`;
    return {
      organization,
      id,
      agentId,
      agentName,
      status: 'running',
      startedAt: timestamp(timeOf(ulidOf(id))),
      model,
      selfTest: 'pending',
      qaReview: 'pending',
      claims: 0,
      ...fields,
    };
  };
  const started: ExecutionTable['start'] = async (execution = newExecution(), { input, task, recordResponse } = {}) => {
    const dueAt = timestamp(Date.parse(execution.startedAt) + 60_000);
    await insertExecution(context, execution, input ?? { input: 'Do it.' }, { dueAt, task, recordResponse });
    return execution;
  };
  const stored = async (taskId: string) => (await readTask(board, organization, taskId)) as StoredTask;
  return {
    ...context,
    agent,
    createAgent,
    newExecution,
    start: started,
    stored,
    startOn: async (taskId, by) => {
      const execution = newExecution({ taskId }, by);
      return started(execution, { task: moveOnStart(await stored(taskId), execution, false, at(0)) });
    },
    leased: async (execution) => {
      const reference = execution ?? (await started());
      return (await leaseExecution(board, reference, lease('first'))) as RunningExecution;
    },
    release: async ({ id, taskId }, status = 'qa_review') =>
      moveOnEnd(await stored(taskId as string), id, status, at(5)) as TaskMove,
  };
}

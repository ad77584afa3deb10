import { ulid } from 'ulid';
import { timeOf, timestamp, ulidOf } from '../../lib/contract/ids.ts';
import { moveOnEnd, moveOnStart } from '../../lib/executions/task-moves.ts';
import type { StoredAgent } from '../../lib/table/agent-items.ts';
import { insertAgent } from '../../lib/table/agents.ts';
import type { Ending, ExecutionInput, RunningExecution } from '../../lib/table/execution-items.ts';
import { insertExecution, leaseExecution, type TaskMove } from '../../lib/table/executions.ts';
import type { RecordResponse } from '../../lib/table/idempotency.ts';
import type { StartContext } from '../../lib/table/running.ts';
import type { StoredTask } from '../../lib/table/task-items.ts';
import { readTask } from '../../lib/table/tasks.ts';
import { storedAgent } from './agent-seed.ts';
import { type Board, openBoard } from './board.ts';

/** The moment at which the clock of a board stands. */
const start = Date.UTC(2026, 0, 1);

/** A moment so many seconds after the clock of a board. */
export const at = (seconds: number): string => timestamp(start + seconds * 1000);

/** The lease of a worker for 30 seconds. */
export const lease = (leaseId: string, from = 0) => ({ leaseId, now: at(from), until: at(from + 30) });

/** How an execution that completed ended. */
export const completed = (fields: Partial<Ending> = {}): Ending => ({
  status: 'completed',
  completedAt: at(5),
  durationMs: 5000,
  tokensUsed: 42,
  selfTest: 'passed',
  qaReview: 'failed',
  ...fields,
});

/** How an execution that failed ended. */
export const failed = (fields: Partial<Ending> = {}): Ending => ({
  ...completed({ selfTest: 'skipped', qaReview: 'skipped', error: 'It went wrong.' }),
  status: 'failed',
  ...fields,
});

/** The options of a start. */
type StartOptions = { input?: ExecutionInput; task?: TaskMove | undefined; recordResponse?: RecordResponse };

/** A board with executions; `agent` is its one active agent. */
export type ExecutionBoard = Board & {
  runningCap: number;
  limits: StartContext['limits'];
  startMinutes: StartContext['startMinutes'];
  agent: StoredAgent;
  /** Puts another agent. */
  hire: (name: string, fields?: Partial<StoredAgent>) => Promise<StoredAgent>;
  /** A new execution as a start would put it. */
  newExecution: (fields?: Partial<RunningExecution>, agent?: StoredAgent) => RunningExecution;
  start: (execution?: RunningExecution, options?: StartOptions) => Promise<RunningExecution>;
  /** Starts an execution on a task. */
  startOn: (taskId: string, agent?: StoredAgent) => Promise<RunningExecution>;
  /** Leases an execution as the first worker does: a new one if none is given. */
  leased: (execution?: RunningExecution) => Promise<RunningExecution>;
  /** The move of the task of an execution at its end. */
  release: (execution: RunningExecution, status?: 'up_for_review' | 'qa_review' | 'assigned') => Promise<TaskMove>;
  /** The task as it is stored. */
  stored: (taskId: string) => Promise<StoredTask>;
};

/** Opens a board with an agent, of which `cap` executions may run at once. */
export async function openExecutionBoard(cap = 50): Promise<ExecutionBoard> {
  const board = await openBoard();
  const { organization, clock } = board;
  const context = { ...board, runningCap: cap, limits: {}, startMinutes: new Map() };
  const hire: ExecutionBoard['hire'] = async (name, fields) => {
    const agent = storedAgent({ name, ...fields }, clock());
    await insertAgent(board, organization, agent, undefined);
    return agent;
  };
  const agent = await hire('writer');
  const newExecution: ExecutionBoard['newExecution'] = (fields, { id: agentId, name: agentName, model } = agent) => {
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
  const started: ExecutionBoard['start'] = async (execution = newExecution(), { input, task, recordResponse } = {}) => {
    const dueAt = timestamp(Date.parse(execution.startedAt) + 60_000);
    await insertExecution(context, execution, input ?? { input: 'Do it.' }, { dueAt, task, recordResponse });
    return execution;
  };
  const stored = async (taskId: string) => (await readTask(board, organization, taskId)) as StoredTask;
  return {
    ...context,
    agent,
    hire,
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

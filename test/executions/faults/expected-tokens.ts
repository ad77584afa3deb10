import type { ModelAnswer, Question } from '../../../lib/model/converse.ts';
import { estimatedInput } from '../../../lib/model/input-estimate.ts';
import type { ExecutionHead } from '../../../lib/table/executions/execution-items.ts';
import type { Step } from '../../../lib/table/executions/steps.ts';
import { type Purpose, purposeOf } from '../test-executions.ts';

/** A call of a model: what it is for (`step`: the work of an agent with tools), and after how many messages of the model. */
type Call = `${Purpose | 'step'} ${number}`;

/** Tokens of an answer, or a call that counts with its estimated input. */
type Spent = number | Call;

/**
 * What a worker has spent; `carried` has the interrupted calls of the workers that were lost before it. `sent` is its last
 * write of tokens that has no result yet, with the number of its entries in both.
 */
export type WorkerTokens = {
  executionId: string;
  claim?: string;
  claims: number;
  spent: Spent[];
  carried: Call[];
  sent?: { tokens: number; spent: number; carried: number } | undefined;
};

/** A command to the table, as far as it matters here. */
type Command = {
  UpdateExpression?: string;
  ExpressionAttributeValues?: Record<string, unknown>;
  TransactItems?: Record<string, Command>[];
};

const callOf = (question: Question): Call =>
  `${question.tools ? 'step' : purposeOf(question)} ${question.turns?.length ?? 0}`;

const isLease = ({ UpdateExpression = '' }: Command) => UpdateExpression.includes('firstLeasedAt');

/** Whether a write stores the tokens of a worker: the progress, the end, or tokens that are counted late. */
function storesTokens({ ExpressionAttributeValues: values = {}, TransactItems = [] }: Command): boolean {
  if (TransactItems.some((item) => Object.values(item).some(storesTokens))) return true;
  return ':lastStored' in values || ':new_lastStored' in values || (':tokens' in values && !(':minusOne' in values));
}

/** Returns the tokens that a write of a lease holder stores; `undefined` for any other command. */
function tokensIn({ ExpressionAttributeValues: values = {}, TransactItems = [] }: Command): number | undefined {
  const stored = (values[':lastStored'] ?? values[':new_lastStored']) as { tokens: number } | undefined;
  const items = TransactItems.flatMap((item) => Object.values(item));
  return stored?.tokens ?? items.map(tokensIn).find((tokens) => tokens !== undefined);
}

/**
 * Follows which tokens have to be counted, from what the models answered to the workers and which of them were killed:
 *
 * - An answer counts if it reached a worker that lived to write it, or to end in another way.
 * - A call that was aborted counts with its estimated input.
 * - If a worker is killed, the calls that it may have begun count with their estimated input once another worker takes
 *   over. Its answers that no write has stored do not count.
 *
 * @param hasTools whether the agent of an execution has tools. The calls of all executions with tools have equal estimates,
 *   and so do the calls of all executions without tools
 */
export function createExpectedTokens(hasTools: (executionId: string) => boolean) {
  const counted = new Map<string, Spent[]>();
  const interrupted = new Map<string, Call[]>();
  /** The estimated input of each call, by execution, and of the first one by any execution with or without tools. */
  const estimates = new Map<string, number>();
  const add = <Kind>(to: Map<string, Kind[]>, id: string, spent: readonly Kind[]) =>
    to.set(id, [...(to.get(id) ?? []), ...spent]);

  const count = (worker: WorkerTokens, spent = worker.spent.length, carried = worker.carried.length) =>
    add<Spent>(counted, worker.executionId, [...worker.spent.splice(0, spent), ...worker.carried.splice(0, carried)]);

  return {
    newWorker: (executionId: string): WorkerTokens => ({ executionId, claims: 0, spent: [], carried: [] }),

    /** Notes that a worker asks a model. */
    asked: ({ executionId }: WorkerTokens, question: Question) => {
      const estimate = estimatedInput(question);
      estimates.set(`${executionId} ${callOf(question)}`, estimate);
      const first = `${hasTools(executionId)} ${callOf(question)}`;
      if (!estimates.has(first)) estimates.set(first, estimate);
    },

    /** Notes an answer that has reached a worker. */
    answered: ({ spent }: WorkerTokens, question: Question, answer: ModelAnswer) =>
      void spent.push(answer.kind === 'aborted' ? callOf(question) : answer.tokens),

    /** Notes that a worker sends a command; returns a function to call with the result. */
    sends: (worker: WorkerTokens, { input }: { input: object }): ((result: unknown) => void) => {
      const command = input as Command;
      const { spent, carried } = worker;
      const tokens = tokensIn(command);
      let numbers = { spent: spent.length, carried: carried.length };
      if (tokens !== undefined) {
        // A repeated write stores what it stored at first, whatever was answered in the meantime.
        if (worker.sent?.tokens === tokens) numbers = worker.sent;
        worker.sent = { tokens, ...numbers };
      }
      return (result) => {
        if (isLease(command)) {
          const { claim, claims } = (result as { Attributes: { claim: string; claims: number } }).Attributes;
          Object.assign(worker, { claim, claims });
          carried.push(...(interrupted.get(worker.executionId) ?? []));
          interrupted.delete(worker.executionId);
        } else if (storesTokens(command)) {
          worker.sent = undefined;
          count(worker, numbers.spent, numbers.carried);
        }
      };
    },

    /** Notes that a worker has ended without being killed. */
    ended: (worker: WorkerTokens) => void count(worker),

    /** Notes that a worker was killed, with its execution and the steps of it as they are stored. */
    killed: ({ executionId, claim, claims, carried }: WorkerTokens, head: ExecutionHead | undefined, steps: Step[]) => {
      if (claim === undefined) return;
      add(interrupted, executionId, carried);
      if (head?.claim === claim && claims <= 2)
        add(interrupted, executionId, openCalls(head, steps, hasTools(executionId)));
    },

    /** Returns the tokens that an execution must have: the tokens of answers, and the estimated tokens. */
    of: (executionId: string): { answers: number; estimated: number } => {
      const spent = counted.get(executionId) ?? [];
      const estimateOf = (call: Call) => {
        const estimate = estimates.get(`${executionId} ${call}`) ?? estimates.get(`${hasTools(executionId)} ${call}`);
        if (estimate === undefined) throw new Error(`No worker has asked ${call}.`);
        return estimate;
      };
      return {
        answers: spent.reduce<number>((sum, one) => sum + (typeof one === 'number' ? one : 0), 0),
        estimated: spent.reduce<number>((sum, one) => sum + (typeof one === 'number' ? 0 : estimateOf(one)), 0),
      };
    },
  };
}

export type ExpectedTokens = ReturnType<typeof createExpectedTokens>;

/** Returns the calls of models that the holder of a lease may have begun. */
function openCalls({ outputParts, step, progress }: ExecutionHead, stored: readonly Step[], hasTools: boolean): Call[] {
  if (outputParts !== undefined)
    return (['selfTest', 'qaReview'] as const)
      .filter((gate) => progress?.verdicts[gate] === undefined)
      .map((gate): Call => `${gate} 0`);
  if (!hasTools) return ['work 0'];
  if (step?.kind !== 'model') return [];
  const messages = stored.filter(({ kind, durationMs }) => kind === 'model' && durationMs !== undefined);
  return [`step ${messages.length}`];
}

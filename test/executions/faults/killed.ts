import { AsyncLocalStorage } from 'node:async_hooks';
import { isDeepStrictEqual } from 'node:util';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { vi } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { executionEvents } from '../../../lib/executions/execution-events.ts';
import { sweepExecutions } from '../../../lib/executions/run/execution-messages.ts';
import type { Model, Question } from '../../../lib/model/converse.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { type ExecutionHead, executionFrom } from '../../../lib/table/executions/execution-items.ts';
import { readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { readSteps } from '../../../lib/table/executions/steps.ts';
import { taskFrom } from '../../../lib/table/tasks/task-items.ts';
import { type Ended, type KillableWorker, runKillable } from '../../killable.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { faultsOf } from '../../table/tasks/oracle.ts';
import { streamed } from '../../table-stream.ts';
import { createTestExecutions, scriptedModel, type TestExecutions, text } from '../test-executions.ts';
import { conversation, lastResults } from '../tool-scripts.ts';
import { createExpectedTokens, type ExpectedTokens, type WorkerTokens } from './expected-tokens.ts';

/** Compares all items and events with executions that have ended, each with its own task; returns differences. */
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
    const found = {
      leased: ['leaseUntil', 'claim', 'due', 'dueAt'].filter((field) => field in head),
      hasOutput: own.some(({ sk }) => String(sk).startsWith('OUT#')),
      ...{ owner: task?.owner, status: task?.status, events: events.get(id) },
    };
    const expected = {
      ...{ leased: [], hasOutput: status === 'completed', owner: undefined },
      status: status === 'failed' ? 'assigned' : isReviewed ? 'up_for_review' : 'qa_review',
      events: ['agent.spawned', `agent.${status}`],
    };
    if (isDeepStrictEqual(found, expected)) return [];
    return [`${id} has ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`];
  });
  return { executions, wrong: [...wrong, ...(await faultsOf(fixture.table, fixture.organization))] };
}

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

/**
 * Creates workers that are killed at a step. A step is a request to the table or a call of a model, and has two halves: a
 * worker is killed before the step, or between the step and its result. A killed worker continues in no branch.
 */
export function createKillableWorkers(tokens: ExpectedTokens) {
  /** The current worker, with the number of half steps after which it is killed. */
  const workers = new AsyncLocalStorage<KillableWorker & { left: number; tokens: WorkerTokens }>();
  const never = new Promise<never>(() => {});

  /** Counts one half of a step; returns whether the worker is alive afterwards. */
  function isAlive(): boolean {
    const worker = workers.getStore();
    if (worker && !worker.dead && worker.left-- === 0) worker.die();
    return !worker?.dead;
  }

  async function step<Result>(run: () => Promise<Result>): Promise<Result> {
    if (!isAlive()) return never;
    const result = await run();
    return isAlive() ? result : never;
  }

  return {
    /** Wraps the table of the workers. */
    table: (table: Table): Table =>
      interceptTable(table, (send, command) =>
        step(async () => {
          const worker = workers.getStore();
          const note = worker && tokens.sends(worker.tokens, command);
          const result = await send();
          note?.(result);
          return result;
        }),
      ),
    /** Wraps the model of the workers. */
    model:
      (model: Model): Model =>
      async (question) => {
        const worker = workers.getStore();
        if (worker) tokens.asked(worker.tokens, question);
        const answer = await step(() => model(question));
        if (worker) tokens.answered(worker.tokens, question, answer);
        return answer;
      },
    /** Runs a worker of an execution that is killed after `left` half steps. */
    async run(
      fixture: TestExecutions,
      executionId: string,
      work: () => Promise<unknown>,
      left = Number.POSITIVE_INFINITY,
    ): Promise<Ended> {
      const own = tokens.newWorker(executionId);
      const ended = await runKillable((worker) => workers.run(Object.assign(worker, { left, tokens: own }), work));
      if (ended !== 'dead') tokens.ended(own);
      else {
        const reference = { organization: fixture.organization, id: executionId };
        // The timeline waits for requests to this table.
        const { context } = fixture;
        const [head, steps] = [await readExecutionHead(context, reference), await readSteps(context, reference)];
        tokens.killed(own, head, steps);
      }
      return ended;
    },
  };
}

/** An execution takes fewer half steps than this, so a worker that may take as many is not killed. */
export const halfSteps = 44;

/** The same for an execution that calls tools. */
export const halfStepsWithTools = 48;

/** Returns the input of the nth execution. All have the same length, so equal calls have equal estimates. */
export const inputOf = (nth: number): string => `task ${String(nth).padStart(3, '0')}`;

/** Compares the tokens of executions that have ended with the tokens that they must have. */
export function checkTokens(tokens: ExpectedTokens, executions: readonly ExecutionHead[]): string[] {
  return executions.flatMap(({ id, tokensUsed, tokensEstimated = false }) => {
    const { answers, estimated } = tokens.of(id);
    const found = [tokensUsed, tokensEstimated];
    const expected = [answers + estimated, estimated > 0];
    return isDeepStrictEqual(found, expected) ? [] : [`${id} has the tokens ${found}, not ${expected}`];
  });
}

/** Returns the input of an execution in a question. */
const inputIn = ({ user }: Question) => /<input>\n(.*)\n<\/input>/.exec(user)?.[1] as string;

/** An execution of six steps: it creates two tasks, describes the second one, and answers. */
export const splitting = conversation([
  (question) => ['First', 'Second'].map((part) => ['create_task', { title: `${part} of ${inputIn(question)}` }]),
  (question) => [['update_task', { id: lastResults(question)[1]?.data?.id, description: 'The second part.' }]],
  'Both parts are on the board.',
]);
const splitterSteps = ['model', 'create_task', 'create_task', 'model', 'update_task', 'model'];

/**
 * Compares the tasks and the steps of executions of `splitting` with an execution without faults. One that failed
 * has done a part of them, each at most once.
 */
export async function checkSplitting(fixture: TestExecutions, executions: readonly ExecutionHead[]): Promise<string[]> {
  const items = Object.values(await fixture.dump()) as Item[];
  const tasks = items.filter(({ kind }) => kind === 'task').map(taskFrom);
  const wrong = executions.map(async ({ id, organization, status }) => {
    const input = items.find(({ pk, sk }) => sk === 'IN' && String(pk).endsWith(ulidOf(id)))?.input;
    const steps = await readSteps(fixture, { organization, id });
    const found = {
      parts: tasks
        .filter(({ title }) => title.endsWith(` of ${input}`))
        .map(({ title, description, version }) => [title.split(' ')[0], description, version])
        .sort(),
      steps: steps.map(({ kind, name }) => (kind === 'tool' ? name : kind)),
      unfinished: steps.filter(({ durationMs }) => durationMs === undefined),
    };
    const parts = found.parts.map(([part]) => part);
    if (status === 'failed' && new Set(parts).size === parts.length) return [];
    const expected = {
      parts: [
        ['First', undefined, 1],
        ['Second', 'The second part.', 2],
      ],
      ...{ steps: splitterSteps, unfinished: [] },
    };
    return isDeepStrictEqual(found, expected) ? [] : [`${id} has ${JSON.stringify(found)}`];
  });
  return (await Promise.all(wrong)).flat();
}

/**
 * Creates executions whose workers are killed; if `throttles`, the first worker returns its lease, and if `callsTools`, the
 * agent carries out six steps.
 */
export async function createKilledWorkers({ throttles = false, callsTools = false } = {}) {
  const tokens = createExpectedTokens(() => callsTools);
  const workers = createKillableWorkers(tokens);
  const fixture = await createTestExecutions({ cap: 1_000, through: workers.table });
  if (callsTools) await fixture.update('writer', { capabilities: ['tasks.write'] });
  // A pause longer than the patience of a worker: it returns its lease at once.
  if (throttles) vi.spyOn(Math, 'random').mockReturnValue(10);

  function work(executionId: string, left?: number, isFirst = false): Promise<Ended> {
    const qaReview = throttles && isFirst ? { kind: 'throttled' as const, tokens: 0 } : text('VERDICT: PASS', 1);
    const { tools } = scriptedModel({ qaReview, ...(callsTools && { work: splitting }) });
    const killable = { ...tools, model: workers.model(tools.model) };
    const run = () => fixture.run({ organization: fixture.organization, executionId }, killable);
    return workers.run(fixture, executionId, run, left);
  }

  return {
    /**
     * Starts executions, each on a new task and run by a worker that is killed, the nth after n half steps. They run one
     * after the other: a conflict between them would add steps.
     */
    async killAtEachHalfStep(): Promise<{ id: string; ended: Ended }[]> {
      const killed: { id: string; ended: Ended }[] = [];
      for (let left = 0; left < (callsTools ? halfStepsWithTools : halfSteps); left++) {
        const { id: taskId } = await fixture.addTask();
        const { executionId: id } = await fixture.start({ taskId, input: inputOf(left) });
        killed.push({ id, ended: await work(id, left, true) });
      }
      return killed;
    },

    /** Lets 2.5 minutes pass, in which only the sweep of each minute sends messages. Each is received twice at once. */
    async recover(leftOf: (id: string) => number | undefined = () => undefined): Promise<void> {
      fixture.sent.length = 0;
      for (let nth = 0; nth < 5; nth++) {
        await fixture.timeline.pass(30_000);
        if (nth % 2 === 0) await sweepExecutions(fixture.context, { until: fixture.clock() });
        const ids = fixture.sent.splice(0).map(({ message }) => message.executionId);
        for (const id of ids) await Promise.all([work(id, leftOf(id)), work(id, leftOf(id))]);
      }
    },

    /** Compares all items and events with the items and events of executions without faults; returns the differences. */
    async check() {
      const { executions, wrong } = await checkExecutions(fixture);
      const wrongTokens = checkTokens(tokens, executions);
      const wrongSteps = callsTools ? await checkSplitting(fixture, executions) : [];
      return { executions, wrong: [...wrong, ...wrongTokens, ...wrongSteps] };
    },
  };
}

import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunResources } from '../../../lib/executions/run/generate-output.ts';
import type { Model } from '../../../lib/model/converse.ts';
import type { ExecutionMessage } from '../../../lib/names/messages.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { createShards } from '../../../lib/table/access/shards.ts';
import type { ExecutionHead } from '../../../lib/table/executions/execution-items.ts';
import { readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { readStepPage } from '../../../lib/table/executions/step-list.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { createTestExecutions, scriptedModel, text } from '../test-executions.ts';
import { checkExecutions, checkSplitting, splitting } from './killed.ts';

afterEach(() => vi.restoreAllMocks());

/**
 * Creates an interruption of steps. A step is a request to the table or a call of a model, and has two halves: the
 * interruption comes before the step, or between the step and its result.
 */
function createInterruption() {
  let [left, interrupt] = [Number.POSITIVE_INFINITY, async () => {}];
  const half = async () => {
    if (left-- === 0) await interrupt();
  };
  const step = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    await half();
    const result = await run();
    await half();
    return result;
  };
  return {
    table: (table: Table): Table => ({ ...interceptTable(table, step), sleep: async () => {}, shards: createShards() }),
    model:
      (model: Model): Model =>
      (question) =>
        step(() => model(question)),
    /** Runs work that is interrupted after `halves` half steps; returns whether it took as many. */
    interruptAt: async (halves: number, interruption: () => Promise<void>, work: () => Promise<unknown>) => {
      let hasCome = false;
      left = halves;
      interrupt = async () => {
        hasCome = true;
        await interruption();
      };
      await work();
      left = Number.POSITIVE_INFINITY;
      return hasCome;
    },
  };
}

/** Creates an organization in which an execution is cancelled, and its worker or the request is interrupted. */
async function createCancelled(worker: 'ends' | 'returns' | 'continues' | 'calls tools' = 'ends') {
  const callsTools = worker === 'calls tools';
  const steps = createInterruption();
  const fixture = await createTestExecutions({ cap: 1_000, through: steps.table });
  if (callsTools) await fixture.update('writer', { capabilities: ['tasks.write'] });
  // A pause longer than the patience of a worker: it returns its lease at once.
  if (!callsTools && worker !== 'ends') vi.spyOn(Math, 'random').mockReturnValue(10);
  let throttles = worker === 'returns';
  const { tools, asked } = scriptedModel({
    ...(callsTools && { work: splitting }),
    qaReview: () => (throttles ? { kind: 'throttled', tokens: 0 } : text('VERDICT: PASS', 1)),
  });
  const outcomes: { id: string; outcome: string }[] = [];
  /** The tokens of all answers to an execution. */
  const answered = new Map<string, number>();
  const run = ({ executionId: id, ...message }: ExecutionMessage, { model, ...others }: RunResources) =>
    fixture.run(
      { ...message, executionId: id },
      {
        ...others,
        model: async (question) => {
          const answer = await model(question);
          answered.set(id, (answered.get(id) ?? 0) + answer.tokens);
          return answer;
        },
      },
    );
  return {
    ...{ fixture, steps, tools, asked, outcomes, answered },
    work: (message: ExecutionMessage) => run(message, { ...tools, model: steps.model(tools.model) }),

    /** Starts an execution on a task of its own. One to continue has a worker that has stored its output. */
    start: async () => {
      const message = await fixture.start({ taskId: (await fixture.addTask()).id, input: `task ${outcomes.length}` });
      if (worker !== 'continues') return message;
      throttles = true;
      await run(message, tools);
      throttles = false;
      await fixture.timeline.pass(120_000);
      return message;
    },

    /** Cancels an execution, and notes whether that succeeded. */
    cancel: async (message: ExecutionMessage, through?: Table) => {
      const outcome = await fixture.cancel(message, 'writer', through).then(
        ({ error }) => String(error),
        ({ code }) => String(code),
      );
      outcomes.push({ id: message.executionId, outcome });
    },

    /** Lets the later messages of all executions be received; returns how many questions their workers asked. */
    receiveAll: async () => {
      const before = asked.length;
      for (const { message } of fixture.sent.splice(0)) {
        await fixture.timeline.pass(60_000);
        await fixture.run(message, tools);
      }
      return asked.length - before;
    },

    /** Expects each execution to have ended once, with the result that the request reported. */
    expectEachEndedOnce: async () => {
      const { executions, wrong } = await checkExecutions(fixture);
      expect(wrong).toEqual([]);
      if (callsTools) expect(await checkSplitting(fixture, executions)).toEqual([]);
      const ends = executions.map(({ id, status, error }) => ({ id, outcome: error ?? `${status}` }));
      const reported = outcomes.map(({ id, outcome }) => ({
        id,
        outcome: outcome === 'execution_finished' ? 'completed' : outcome,
      }));
      const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
      expect(ends.sort(byId)).toEqual(reported.sort(byId));
    },
  };
}

/** Starts executions, and cancels each after one more half of a step of its worker, until a worker ends before that. */
async function cancelAtEachHalf({ work, start, cancel, steps }: Awaited<ReturnType<typeof createCancelled>>) {
  for (let halves = 0, hasCome = true; hasCome; halves++) {
    const message = await start();
    hasCome = await steps.interruptAt(
      halves,
      () => cancel(message),
      () => work(message),
    );
    if (!hasCome) await cancel(message);
  }
}

describe('an execution that is cancelled', () => {
  it.each([
    ['ends it', 'ends'],
    ['returns its lease', 'returns'],
    ['continues with the stored output', 'continues'],
  ] as const)(
    'at any half of any step of the worker that %s ends once, as cancelled unless the end came first',
    async (_, worker) => {
      const cancelled = await createCancelled(worker);
      const { fixture, outcomes, answered, receiveAll, expectEachEndedOnce } = cancelled;
      await cancelAtEachHalf(cancelled);
      const found = outcomes.map(({ outcome }) => outcome);
      expect(found.length).toBeGreaterThan(12);
      // Only between the write of the end and its response, and after that, the request comes too late.
      const late = worker === 'returns' ? [] : ['execution_finished', 'execution_finished'];
      expect(found).toEqual([...Array(found.length - late.length).fill('cancelled'), ...late]);
      expect(await receiveAll()).toBe(0);
      await expectEachEndedOnce();
      for (const { id } of outcomes) {
        const head = await readExecutionHead(fixture, { organization: fixture.organization, id });
        expect([id, head?.tokensUsed]).toEqual([id, answered.get(id) ?? 0]);
      }
    },
  );

  it('at any half of any step of a worker that calls tools ends once, and has the tokens of all answers', async () => {
    const cancelled = await createCancelled('calls tools');
    const { fixture, outcomes, answered, receiveAll, expectEachEndedOnce } = cancelled;
    await cancelAtEachHalf(cancelled);
    expect(outcomes.length).toBeGreaterThan(30);
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['cancelled', 'execution_finished']));
    expect(await receiveAll()).toBe(0);
    await expectEachEndedOnce();
    for (const { id, outcome } of outcomes) {
      if (outcome !== 'cancelled') continue;
      const reference = { organization: fixture.organization, id };
      const head = (await readExecutionHead(fixture, reference)) as ExecutionHead;
      expect(head.tokensUsed).toBe(answered.get(id) ?? 0);
      const { items, total } = await readStepPage(fixture, head, { limit: 100, offset: 0 });
      expect([head.stepCount, items.length]).toEqual([total, total]);
    }
  });

  it('while its worker ends it, at any half of any step of the request, ends once', async () => {
    const { fixture, tools, start, cancel, steps, outcomes, expectEachEndedOnce } = await createCancelled();
    const requests = steps.table(fixture.table);
    for (let halves = 0, hasCome = true; hasCome; halves++) {
      const message = await start();
      hasCome = await steps.interruptAt(
        halves,
        async () => void (await fixture.run(message, tools)),
        () => cancel(message, requests),
      );
    }
    // Only after the write of the cancellation, the worker comes too late.
    const found = outcomes.map(({ outcome }) => outcome);
    expect(found.length).toBeGreaterThan(6);
    expect(found).toEqual([...Array(found.length - 2).fill('execution_finished'), 'cancelled', 'cancelled']);
    await expectEachEndedOnce();
  });

  it('by ten requests at once is cancelled by one of them', async () => {
    const { fixture, start, cancel, outcomes } = await createCancelled();
    const message = await start();
    await Promise.all(Array.from({ length: 10 }, () => cancel(message)));
    const found = outcomes.map(({ outcome }) => outcome).sort();
    expect(found).toEqual(['cancelled', ...Array(9).fill('execution_finished')]);
    expect((await checkExecutions(fixture)).wrong).toEqual([]);
  });
});

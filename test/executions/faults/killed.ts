import { vi } from 'vitest';
import { sweepExecutions } from '../../../lib/executions/execution-messages.ts';
import type { Ended } from '../../killable.ts';
import { createTestExecutions, scriptedModel, text } from '../test-executions.ts';
import { checkExecutions } from './check-executions.ts';
import { createKillableWorkers } from './killable-workers.ts';

/** An execution takes fewer half steps than this, so a worker that may take as many is not killed. */
export const halfSteps = 44;

/**
 * Creates executions whose workers are killed after a given number of half steps.
 *
 * @param throttles whether the review throttles at the first question, so that the first worker returns its lease
 */
export async function createKilledWorkers({ throttles = false } = {}) {
  const workers = createKillableWorkers();
  const fixture = await createTestExecutions({ cap: 1_000, stream: true, through: workers.table });
  // A pause longer than the patience of a worker: it returns its lease at once.
  if (throttles) vi.spyOn(Math, 'random').mockReturnValue(10);

  function work(executionId: string, left?: number, isFirst = false): Promise<Ended> {
    const qaReview = throttles && isFirst ? { kind: 'throttled' as const, tokens: 0 } : text('VERDICT: PASS', 1);
    const { tools } = scriptedModel({ qaReview });
    const killable = { ...tools, model: workers.model(tools.model) };
    return workers.run(() => fixture.run({ organization: fixture.organization, executionId }, killable), left);
  }

  return {
    /** Starts an execution on a new task, and runs it by a worker that is killed after `left` half steps. */
    async killAfter(left: number): Promise<{ id: string; ended: Ended }> {
      const { id: taskId } = await fixture.addTask();
      const { executionId: id } = await fixture.start({ taskId });
      return { id, ended: await work(id, left, true) };
    },

    /** Lets 2.5 minutes pass, in which only the sweep of each minute sends messages. Each is received twice at once. */
    async recover(leftOf: (id: string) => number | undefined = () => undefined): Promise<void> {
      fixture.sent.length = 0;
      for (let nth = 0; nth < 5; nth++) {
        await fixture.timeline.pass(30_000);
        if (nth % 2 === 0) await sweepExecutions(fixture.context, { until: fixture.clock() });
        const ids = fixture.sent.splice(0).map(({ message }) => message.executionId);
        await Promise.all([...ids, ...ids].map((id) => work(id, leftOf(id))));
      }
    },

    check: () => checkExecutions(fixture),
  };
}

import type { ExecutionMessage } from '../../../lib/deployment/messages.ts';
import { sweepExecutions } from '../../../lib/executions/execution-messages.ts';
import type { Ended } from '../../killable.ts';
import { createTestExecutions, scriptedModel } from '../test-executions.ts';
import { checkExecutions } from './check-executions.ts';
import { createKillableWorkers } from './killable-workers.ts';

const halfMinute = 30_000;

/** An execution takes fewer half steps than this, so a worker that may take as many is not killed. */
export const halfSteps = 44;

/** Creates executions whose workers are killed after a given number of half steps. */
export async function createKilledWorkers() {
  const workers = createKillableWorkers();
  const fixture = await createTestExecutions({ cap: 1_000, stream: true, through: workers.table });

  function work(message: ExecutionMessage, left?: number): Promise<Ended> {
    const { tools } = scriptedModel();
    const killable = { ...tools, model: workers.model(tools.model) };
    return workers.run(() => fixture.run(message, killable), left);
  }

  return {
    /** Starts an execution on a new task, and runs it by a worker that is killed after `left` half steps. */
    async killedAfter(left: number): Promise<{ id: string; ended: Ended }> {
      const { id: taskId } = await fixture.addTask();
      const message = await fixture.start({ taskId });
      return { id: message.executionId, ended: await work(message, left) };
    },

    /** Lets 2.5 minutes pass, and runs the executions of the messages that the sweep of each minute sends. */
    async recover(leftOf: (id: string) => number | undefined = () => undefined): Promise<void> {
      for (let nth = 0; nth < 5; nth++) {
        await fixture.timeline.pass(halfMinute);
        if (nth % 2 === 0) await sweepExecutions(fixture.context, { until: fixture.clock() });
        const messages = fixture.sent.splice(0);
        await Promise.all(messages.map(({ message }) => work(message, leftOf(message.executionId))));
      }
    },

    check: () => checkExecutions(fixture),
  };
}

import type { ExecutionMessage } from '../../../lib/deployment/messages.ts';
import { sweepExecutions } from '../../../lib/executions/execution-messages.ts';
import type { Ended } from '../../killable.ts';
import { openWorkshop, scriptedModel } from '../workshop.ts';
import { openMortals } from './mortals.ts';
import { recount } from './recount.ts';

const halfMinute = 30_000;

/** A run of an execution takes fewer half steps than this, so that a worker with more of them is not killed. */
export const halfSteps = 44;

/** A workshop whose workers die after so many half steps as they are told. */
export async function openDeadlyWorkshop() {
  const mortals = openMortals();
  const workshop = await openWorkshop({ cap: 1_000, stream: true, through: mortals.table });

  function work(message: ExecutionMessage, left?: number): Promise<Ended> {
    const { tools } = scriptedModel();
    const mortal = { ...tools, model: mortals.model(tools.model) };
    return mortals.run(() => workshop.run(message, mortal), left);
  }

  return {
    /** Starts an execution on a task of its own, and has it carried out by a worker that dies after so many half steps. */
    async killedAfter(left: number): Promise<{ id: string; ended: Ended }> {
      const { id: taskId } = await workshop.put();
      const message = await workshop.start({ taskId });
      return { id: message.executionId, ended: await work(message, left) };
    },

    /** Lets two minutes and a half pass, and carries out what the sweep of each minute wakes. */
    async recover(leftOf: (id: string) => number | undefined = () => undefined): Promise<void> {
      for (let nth = 0; nth < 5; nth++) {
        await workshop.timeline.pass(halfMinute);
        if (nth % 2 === 0) await sweepExecutions(workshop.context, { until: workshop.clock() });
        const woken = workshop.sent.splice(0);
        await Promise.all(woken.map(({ message }) => work(message, leftOf(message.executionId))));
      }
    },

    recount: () => recount(workshop),
  };
}

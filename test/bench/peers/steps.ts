import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { runExecutions, startEndReceiver } from '../executions.ts';
import type { Measured } from '../page/turns.ts';
import { cpuUsedBy, startService } from '../service.ts';
import { type Comparison, callers, type Prepared, type Size } from './comparison.ts';
import { restate, type Stepper } from './restate/restate.ts';

/** Executions of three steps, beside Restate; of this service also executions of an agent without tools. */
export async function steps(bench: Bench, size: Size): Promise<Comparison<Stepper, undefined>> {
  const ends = await startEndReceiver(bench);
  const executed = async (setup: Prepared<Stepper, undefined>, execute: Stepper['execute']) => {
    let rate = 0;
    const used = await cpuUsedBy(setup, async () => {
      rate = (await execute(callers, size.executions)).rate;
    });
    return { rate, cpu: used / size.executions };
  };
  return {
    peer: restate,
    async startOwn() {
      // The model of an agent with tools calls one of them before it answers.
      const environment = { MODEL_SCRIPT: join(import.meta.dirname, 'three-steps.json') };
      const service = await startService(bench, { environment });
      return {
        ...service,
        execute: (of, count) => runExecutions({ service, ends }, of, count, ['tasks.read']),
        executeWithoutTools: (of, count) => runExecutions({ service, ends }, of, count),
      };
    },
    async prepare({ execute, executeWithoutTools }) {
      await execute(callers, size.warmUp);
      await executeWithoutTools?.(callers, size.warmUp);
      return undefined;
    },
    figures: {
      stepsRate: { name: 'executions of three steps: a second', decimals: 0 },
      stepsCpu: { name: 'the same: CPU ms each', decimals: 2 },
      plainRate: { name: 'executions of an agent without tools: a second', decimals: 0 },
      plainCpu: { name: 'the same: CPU ms each', decimals: 2 },
    },
    measurements: [
      async (setup) => {
        const { rate, cpu } = await executed(setup, setup.service.execute);
        return { stepsRate: rate, stepsCpu: cpu };
      },
      async (setup): Promise<Measured> => {
        const { executeWithoutTools } = setup.service;
        if (!executeWithoutTools) return {};
        const { rate, cpu } = await executed(setup, executeWithoutTools);
        return { plainRate: rate, plainCpu: cpu };
      },
    ],
  };
}

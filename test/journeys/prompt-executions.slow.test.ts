import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { type Deployment, startDeployment, until } from './deployment.ts';
import { countOf, createAgent, execute, readExecution } from './requests.ts';

const rounds = 200;
const atOnce = 4;
const agent = 'prompt';

/** Starts a service whose model responds after `latencyMs`. */
async function startWithModel(latencyMs: number) {
  const environment = { MODEL_LATENCY_MS: String(latencyMs), RUNNING_CAP: '200', POWERTOOLS_LOG_LEVEL: 'SILENT' };
  const service = await startDeployment({ environment });
  await createAgent(service, agent);
  return { service, timesMs: [] as number[] };
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number;

/** Starts an execution and reads it at once. */
async function startAndRead(service: Deployment, timesMs: number[], nth: number): Promise<void> {
  const begunAt = performance.now();
  const id = await execute(service, agent, `Number ${nth}`);
  timesMs.push(performance.now() - begunAt);
  expect(await readExecution(service, agent, id)).toMatchObject({ id, input: `Number ${nth}` });
}

it('the response to a start does not wait for the model, and the execution can be read from then on', async () => {
  const [quick, slow] = [await startWithModel(0), await startWithModel(5_000)];
  // In turn, so that other work of the machine affects both alike.
  let nth = 0;
  const start = async () => {
    while (nth < rounds) {
      const { service, timesMs } = nth % 2 ? slow : quick;
      await startAndRead(service, timesMs, nth++);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, start));
  expect(quick.timesMs.length + slow.timesMs.length).toBe(rounds);
  // The model takes hundreds of times the time of the table.
  expect(median(slow.timesMs) / median(quick.timesMs)).toBeLessThan(5);
  for (const { service, timesMs } of [quick, slow]) {
    await until('all have ended', async () => (await countOf(service, 'running')) === 0, 120_000);
    expect(await countOf(service, 'completed')).toBe(timesMs.length);
  }
});

import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { atEndOfFile } from '../../../end-of-file.ts';
import { type Deployment, newFolder, startDeployment } from '../../../journeys/deployment.ts';
import { fc, testSeed } from '../../../seeded.ts';
import { between, randomFrom } from '../../../soak/random.ts';
import { startReceivers } from './receivers.ts';
import { carryOut, check, register, type Target } from './round.ts';
import { shortSequence } from './short-sequences.ts';

/** Each kill of the process interrupts this number of sequences. An organization can have 100 webhooks. */
const atOnce = 50;
const rounds = 4;

/** Starts the service, and returns a function that kills it and starts it again on its data. */
async function startTarget(): Promise<Target & { kill: () => Promise<void> }> {
  const dataFolder = newFolder();
  const options = { dataFolder, environment: { RETRY_LADDER: '1,1,1', REQUESTS_PER_MINUTE: '1000000' } };
  let service: Deployment = await startDeployment(options);
  const kills: Target['kills'] = [];
  const kill = async () => {
    const from = Date.now();
    await service.stop('SIGKILL');
    kills.push({ from, until: Date.now() });
    service = await startDeployment(options);
  };
  return { api: () => service.api, kills, kill };
}

// In virtual time, thousands of other sequences run. Here the processes, the stream and its stored position are real.
it('no kill of the process loses a delivery, repeats it without need, or leaves it waiting', async () => {
  const random = randomFrom(testSeed);
  const receivers = await startReceivers();
  atEndOfFile(receivers.close);
  const target = await startTarget();
  const sequences = fc.sample(shortSequence, { seed: testSeed, numRuns: rounds * atOnce });
  for (let round = 0; round < rounds; round++) {
    const own = sequences.slice(round * atOnce, (round + 1) * atOnce);
    const runs = await Promise.all(own.map((steps, at) => register(target, receivers, steps, `${round}-${at}`)));
    const carriedOut = Promise.all(runs.map((run) => carryOut(target, receivers, run)));
    for (let kills = 0; kills < 2; kills++) {
      await pause(between(random, 200, 2_500));
      await target.kill();
    }
    await carriedOut;
    const wrong = await Promise.all(runs.map((run) => check(target, receivers, run)));
    const failures = runs.flatMap(({ steps }, at) => (wrong[at]?.length ? [{ wrong: wrong[at], steps }] : []));
    expect(failures, `seed ${testSeed}, round ${round}`).toEqual([]);
    await Promise.all(runs.map(({ webhookId: id }) => target.api().deleteWebhook({ params: { id } })));
  }
});

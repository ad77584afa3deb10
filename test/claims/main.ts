import { randomInt } from 'node:crypto';
import { inspect, parseArgs } from 'node:util';
import { proveClaims } from './prove-claims.ts';

/** `npm run prove:claims`: many workers take the tasks of a board. Exits with 1 if two have one task at the same time. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(randomInt(1_000_000)) },
      workers: { type: 'string', default: '200' },
      tasks: { type: 'string', default: '2000' },
    },
  });
  const [seed, workers, tasks] = [values.seed, values.workers, values.tasks].map(Number) as [number, number, number];
  if (![seed, workers, tasks].every((number) => Number.isSafeInteger(number) && number >= 0) || workers < 1)
    throw new Error('Usage: npm run prove:claims -- [--seed N] [--workers N] [--tasks N], each a whole number.');
  console.log(`${workers} workers, ${tasks} tasks; --seed ${seed} draws the same faults again.`);
  const proof = await proveClaims({ seed, workers, tasks });
  console.log(inspect(proof, { breakLength: 120, maxArrayLength: 50 }));
  process.exitCode = proof.wrong.length > 0 ? 1 : 0;
}

await main();

import { randomInt } from 'node:crypto';
import { inspect, parseArgs } from 'node:util';
import { soak } from './soak.ts';

/** `npm run soak`: events under random faults and kills, then a check. Exits with 1 if anything is lost. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(randomInt(1_000_000)) },
      events: { type: 'string', default: '2000' },
      faults: { type: 'string', default: '200' },
    },
  });
  const [seed, events, faults] = [values.seed, values.events, values.faults].map(Number) as [number, number, number];
  if (![seed, events, faults].every((number) => Number.isSafeInteger(number) && number >= 0) || events < 1)
    throw new Error('Usage: npm run soak -- [--seed N] [--events N] [--faults N], each a whole number.');
  console.log(`${events} events, ${faults} faults; --seed ${seed} plans the same faults again.`);
  const outcome = await soak({
    ...{ seed, events, faults },
    perSecond: 14,
    // A sweep sends a message again only after five minutes: a message that a fault took waits for it.
    restWithinMs: 8 * 60_000,
    killsAtEnd: false,
    say: (line) => console.log(`${Math.round(performance.now() / 1000)} s: ${line}`),
  });
  console.log(inspect(outcome, { breakLength: 120, maxArrayLength: 50 }));
  process.exitCode = outcome.lost.length > 0 ? 1 : 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
await main();

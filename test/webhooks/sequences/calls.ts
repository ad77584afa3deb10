import { setImmediate as turn } from 'node:timers/promises';
import { noteLostResponse } from '../../../lib/table/access/lost-responses.ts';
import { between, randomFrom } from '../../soak/random.ts';
import { dynamodbError } from '../../table/fixtures/dynamodb-errors.ts';

/** A process that can be killed. None of its calls is carried out from then on, and none returns. */
export type Process = { dead: boolean; die: () => void; died: Promise<void> };

export function createProcess(onDeath: () => void = () => {}): Process {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const process: Process = {
    dead: false,
    died,
    die: () => {
      if (process.dead) return;
      process.dead = true;
      onDeath();
      resolve();
    },
  };
  return process;
}

/**
 * A fault of a call, after a number of calls that pass: its process dies, the connection breaks, or the table throttles it.
 * It strikes before the call is carried out, as a throttling always does, after it, or after half of a batch of messages.
 */
export type Strike = { how: 'dies' | 'fails' | 'throttles'; when: 'before' | 'half' | 'after'; calls: number };

type Call = {
  process: Process;
  carryOut: (isHalf: boolean) => unknown;
  resolve: (output: never) => void;
  reject: (error: unknown) => void;
};

/** How many turns of the event loop code needs at most to make its next call: batches wait for a turn each. */
const turns = 5;

export const never = new Promise<never>(() => {});

export type Calls = ReturnType<typeof createCalls>;

/**
 * Collects the calls that concurrent processes make of the table and the queues, and carries them out one by one in a
 * random order, which a number repeats.
 */
export function createCalls(order: number) {
  const random = randomFrom(order);
  const waiting: Call[] = [];
  const strikes: Strike[] = [];
  let struck = 0;

  return {
    random,

    /** Carries a call out when its turn comes. */
    make: <Output>(process: Process, carryOut: (isHalf: boolean) => Output | Promise<Output>): Promise<Output> =>
      process.dead ? never : new Promise((resolve, reject) => waiting.push({ process, carryOut, resolve, reject })),

    strike: (one: Strike): void => {
      strikes.push({ ...one });
      struck++;
    },

    /** The number of strikes so far. */
    struck: () => struck,

    /** Removes all strikes that wait. */
    clear: (): void => void strikes.splice(0),

    /** Carries calls out until no process makes another one before the time moves on. */
    async drain(): Promise<void> {
      for (let quiet = 0; quiet < turns; ) {
        await turn();
        const [call] = waiting.splice(between(random, 0, waiting.length - 1), 1);
        if (call && !call.process.dead) await carryOutOne(call);
        quiet = call ? 0 : quiet + 1;
      }
    },
  };

  async function carryOutOne({ process, carryOut, resolve, reject }: Call): Promise<void> {
    const [next] = strikes;
    const strike = next && next.calls-- === 0 ? strikes.shift() : undefined;
    try {
      const output =
        strike?.when === 'before' || strike?.how === 'throttles' ? undefined : await carryOut(strike?.when === 'half');
      if (strike?.how === 'dies') process.die();
      else if (strike) reject(strike.how === 'throttles' ? dynamodbError('ThrottlingException') : lostConnection());
      else resolve(output as never);
    } catch (error) {
      reject(error);
    }
  }
}

/** Returns the error of a call whose connection broke: it is not known whether the call was carried out. */
function lostConnection(): Error {
  const error = Object.assign(new Error('The connection broke.'), { code: 'ECONNRESET' });
  noteLostResponse(error);
  return error;
}

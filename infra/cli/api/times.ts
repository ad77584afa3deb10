import { InvalidArgumentError } from '@commander-js/extra-typings';
import { SentTime } from '../../../lib/contract/shapes.ts';
import { readBy } from '../command.ts';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const durationPattern = /^([1-9]\d{0,5})([smhd])$/;

/**
 * Reads a duration such as `1h`; returns milliseconds.
 *
 * @throws InvalidArgumentError
 */
export function readDuration(given: string): number {
  const [, number, unit] = durationPattern.exec(given) ?? [];
  if (!number) throw new InvalidArgumentError('It must be a duration such as 30s, 15m, 1h or 2d.');
  return Number(number) * unitMs[unit as keyof typeof unitMs];
}

const readSentTime = readBy(SentTime);

/** Returns a parser of times: in ISO 8601, or a duration such as `1h` for the time that long ago. It returns ISO 8601. */
export function timeReader(clock: () => number): (given: string) => string {
  return (given) => {
    if (durationPattern.test(given)) return new Date(Math.max(clock() - readDuration(given), 0)).toISOString();
    try {
      return readSentTime(given);
    } catch (error) {
      throw new InvalidArgumentError(`${(error as Error).message} Or write how long ago it was, such as 1h or 2d.`);
    }
  };
}

/** Reads a time, or how long ago it was by the clock of this machine. */
export const readTime = timeReader(Date.now);

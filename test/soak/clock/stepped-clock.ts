import { openSync, readSync } from 'node:fs';

/**
 * Lets the clock of its process go wrong by the milliseconds that a file has as a double. The service of a soak loads this
 * module first. Each reading of the clock reads the file, so a step is sudden and no time stamp is in between. Timers and
 * `performance` stay as they are: a step of a real clock does not change them either.
 */
const file = openSync(process.env.SOAK_CLOCK as string, 'r');
const stored = new Float64Array(1);

const now = Date.now.bind(Date);
const steppedNow = () => {
  readSync(file, stored, 0, stored.byteLength, 0);
  return now() + (stored[0] as number);
};

Date.now = steppedNow;
globalThis.Date = new Proxy(Date, {
  construct: (target, values, created) =>
    Reflect.construct(target, values.length > 0 ? values : [steppedNow()], created),
  apply: () => new Date().toString(),
});

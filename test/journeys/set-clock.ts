import { readFileSync } from 'node:fs';

/**
 * Lets a test set the clock of a process that loads this module first (`--import`): at SIGUSR2, and at the start, the
 * process reads how many milliseconds its clock is ahead from the file that `CLOCK_FILE` names.
 */
const file = process.env.CLOCK_FILE as string;
const MachineDate = Date;
let aheadMs = 0;

function readClock(): void {
  aheadMs = Number(readFileSync(file, 'utf8'));
}

class SetDate extends MachineDate {
  constructor(...parts: unknown[]) {
    // @ts-expect-error The constructor has several signatures.
    super(...(parts.length === 0 ? [SetDate.now()] : parts));
  }

  static override now(): number {
    return MachineDate.now() + aheadMs;
  }
}

globalThis.Date = SetDate as DateConstructor;
readClock();
process.on('SIGUSR2', readClock);

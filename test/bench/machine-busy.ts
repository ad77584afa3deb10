import { cpus } from 'node:os';

/** The time of all cores so far, in ms: idle, and in all. */
export type CoreTimes = { idle: number; all: number };

/** Reads the time of all cores. */
export function coreTimes(): CoreTimes {
  const times = cpus().map((core) => core.times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { idle, all };
}

/** Which share of all cores' time was busy between two moments, with whatever ran: from 0 to 1. */
export function busyShare(from: CoreTimes, to: CoreTimes): number {
  return 1 - (to.idle - from.idle) / (to.all - from.all);
}

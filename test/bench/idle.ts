import { setTimeout as pause } from 'node:timers/promises';
import { type Cpu, cpuBetween, type Subject } from './subject.ts';

/** The CPU time that a subject takes without any load, in ms a ms. */
export async function idleCpuOf({ cpu }: Pick<Subject, 'cpu'>, seconds: number): Promise<Cpu> {
  const before = { cpu: cpu(), at: performance.now() };
  await pause(seconds * 1000);
  const used = cpuBetween(before.cpu, cpu());
  const ms = performance.now() - before.at;
  return { service: used.service / ms, store: used.store / ms };
}

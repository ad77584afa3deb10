import { setTimeout as pause } from 'node:timers/promises';
import { cpuOfTree } from './process-cpu.ts';
import type { Service } from './service.ts';

/** The CPU time that a service takes without any load, its table engine's too, in ms a ms. */
export async function idleCpuOf(service: Service, seconds: number): Promise<number> {
  const before = { cpu: cpuOfTree(service.pid), at: performance.now() };
  await pause(seconds * 1000);
  return (cpuOfTree(service.pid) - before.cpu) / (performance.now() - before.at);
}

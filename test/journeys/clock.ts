import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Deployment, newFolder, type Options, startDeployment, until } from './deployment.ts';

const preload = ['--import', join(import.meta.dirname, 'set-clock.ts')];

/** A started service with a clock that the test sets. The delays of its queues still follow the clock of the machine. */
type ClockedDeployment = {
  service: Deployment;
  clockFile: string;
  /** Sets the clock to this time ahead of the machine's (in ms), and waits until the service has noticed the step and sweeps. */
  setClock: (aheadMs: number) => Promise<void>;
};

/**
 * Starts the service with a clock that the test sets.
 *
 * @param clockFile the file with the time by which the clock is ahead; by default a new one, with 0
 */
export async function startWithClock(options: Options = {}, clockFile = newClockFile(0)): Promise<ClockedDeployment> {
  const environment = { ...options.environment, CLOCK_FILE: clockFile };
  const service = await startDeployment({ ...options, environment, nodeOptions: preload });
  const steps = () => service.output().split('the clock was set').length;
  const setClock = async (aheadMs: number) => {
    const before = steps();
    writeFileSync(clockFile, String(aheadMs));
    process.kill(service.pid, 'SIGUSR2');
    await until('the step is logged', () => steps() > before);
  };
  return { service, clockFile, setClock };
}

/** Creates a file with the time by which a clock is ahead (in ms). */
export function newClockFile(aheadMs: number): string {
  const file = join(newFolder(), 'clock');
  writeFileSync(file, String(aheadMs));
  return file;
}

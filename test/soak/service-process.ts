import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** The service as its user runs it, and as it is killed and started again on the same data. */
export type ServiceProcess = {
  url: () => string;
  token: () => string;
  /** How often it was started, and how often a start ended before it served, for a fault that met it. */
  starts: { made: number; failed: number };
  /** Rejects when the service ends though nobody has killed it. */
  broken: Promise<never>;
  kill: () => Promise<void>;
  signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  /** Starts it, again if it must be, until it serves. */
  start: () => Promise<void>;
};

/** Where it is started, what it is told by its environment, and the file that gets what it prints. */
type Setting = { dataFolder: string; environment: Record<string, string>; log: string };

const startedWithinMs = 60_000;

/** Starts `infra/local/main.ts` as `npm start` does. It ends with this process at the latest. */
export async function openService({ dataFolder, environment, log }: Setting): Promise<ServiceProcess> {
  let child: ChildProcess | undefined;
  let url = '';
  const starts = { made: 0, failed: 0 };
  const { promise: broken, reject: breakDown } = Promise.withResolvers<never>();
  broken.catch(() => {});
  process.once('exit', () => child?.kill('SIGKILL'));

  /** One start; false where it ended before it served. */
  function launch(): Promise<boolean> {
    const { PATH = '', HOME = '' } = process.env;
    const NODE_COMPILE_CACHE = join(tmpdir(), 'crewboard-compile-cache');
    const started = spawn(process.execPath, ['infra/local/main.ts'], {
      env: { PATH, HOME, NODE_COMPILE_CACHE, PORT: '0', CREWBOARD_DATA: dataFolder, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    starts.made++;
    let printed = '';
    return new Promise((resolve) => {
      const timer = setTimeout(() => started.kill('SIGKILL'), startedWithinMs);
      const take = (text: string) => {
        appendFileSync(log, text);
        if (/^ready$/m.test(printed)) return;
        printed += text;
        if (!/^ready$/m.test(printed)) return;
        url = /^Crewboard is at (\S+)$/m.exec(printed)?.[1] as string;
        clearTimeout(timer);
        resolve(true);
      };
      started.stdout.setEncoding('utf8').on('data', take);
      started.stderr.setEncoding('utf8').on('data', take);
      started.once('exit', (code) => {
        clearTimeout(timer);
        resolve(false);
        if (/^ready$/m.test(printed) && !started.killed)
          breakDown(new Error(`The service ended with ${code}; see ${log}.`));
      });
    });
  }

  const service: ServiceProcess = {
    url: () => url,
    token: () => readFileSync(join(dataFolder, 'token'), 'utf8').trim(),
    starts,
    broken,
    kill: async () => {
      const killed = child;
      if (!killed || killed.exitCode !== null || killed.signalCode !== null) return;
      const ended = new Promise((resolve) => killed.once('exit', resolve));
      killed.kill('SIGKILL');
      await ended;
    },
    signal: (signal) => {
      if (child?.pid) process.kill(child.pid, signal);
    },
    start: async () => {
      const deadline = Date.now() + startedWithinMs;
      while (!(await launch())) {
        starts.failed++;
        if (Date.now() > deadline) throw new Error(`The service does not start; see ${log}.`);
        await pause(200);
      }
    },
  };
  await service.start();
  return service;
}

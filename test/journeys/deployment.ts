import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { Api } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';
import { atEndOfFile } from '../end-of-file.ts';
import { type Ended, type ServiceOptions, startProgram, startService } from '../processes/service-process.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

export type { Ended } from '../processes/service-process.ts';

/** Options of a start. The default data folder is a new one. */
export type Options = Partial<Omit<ServiceOptions, 'onOutput'>>;

/** The local service in its own process, on its own data folder. */
export type Deployment = {
  url: string;
  token: string;
  dataFolder: string;
  pid: number;
  /** Returns all that the service has printed so far. */
  output: () => string;
  /** Sends requests over HTTP, with the deployment's own token unless another is given. */
  api: Api;
  /** Sends a signal to the process, and waits until it has ended. */
  stop: (signal?: NodeJS.Signals) => Promise<Ended>;
  ended: Promise<Ended>;
};

/** Creates a folder that is removed after the last test of the file. */
export function newFolder(): string {
  const folder = createTemporaryFolder();
  atEndOfFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Kills a process after the last test of the file, unless it has ended. */
function killAtEnd<Started extends { child: ChildProcess; ended: Promise<Ended> }>(started: Started): Started {
  atEndOfFile(async () => {
    started.child.kill('SIGKILL');
    await started.ended;
  });
  return started;
}

/** Starts a program of the repository. `grown` is called with its whole output after each addition. */
export function start(args: string[], environment: Record<string, string>, grown: (stdout: string) => void = () => {}) {
  const started = startProgram(args, environment, () => grown(started.output.stdout));
  return killAtEnd(started);
}

/** Runs a program of the repository to its end. */
export function run(args: string[], environment: Record<string, string>): Promise<Ended> {
  return start(args, environment).ended;
}

/** Starts the service without waiting until it is ready. */
export function launch({ dataFolder = newFolder(), environment, ...options }: Options = {}) {
  const logged = { POWERTOOLS_LOG_LEVEL: 'DEBUG', ...environment };
  return { ...killAtEnd(startService({ dataFolder, environment: logged, ...options })), dataFolder };
}

/** Starts the service and waits until it is ready. */
export async function startDeployment(options: Options = {}): Promise<Deployment> {
  const { child, output, ended, ready, dataFolder } = launch(options);
  const address = await ready;
  if (!address) {
    const { code, stderr } = await ended;
    throw new Error(`The service ended with code ${code}: ${stderr}`);
  }
  return {
    ...address,
    dataFolder,
    pid: child.pid as number,
    output: () => output.stdout + output.stderr,
    api: createApiOverHttp(address.url, address.token),
    stop: (signal = 'SIGINT') => {
      child.kill(signal);
      return ended;
    },
    ended,
  };
}

/** Waits until a function returns a truthy value, and returns the value. The default timeout is a minute. */
export async function until<Value>(what: string, look: () => Promise<Value> | Value, within = 60_000): Promise<Value> {
  const deadline = Date.now() + within;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`Not within ${within} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

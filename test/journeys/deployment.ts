import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { processesOn } from '../processes.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

/** What a test sends to the service. `body` is sent as JSON. */
type Sent = { body?: unknown; headers?: Record<string, string>; token?: string };

/** What the service answered, its body parsed if it is JSON; every part of the envelope that an endpoint may have. */
type Answer<Data> = {
  status: number;
  headers: Headers;
  text: string;
  body: {
    success: boolean;
    data: Data;
    pagination: { limit: number; offset: number; total: number };
    error: { code: string; message: string; requestId: string };
  };
};

/** How a process ended, and all that it printed. */
export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

/** How the service is started: its data folder, further environment variables, and options for Node itself. */
export type Options = { dataFolder?: string; environment?: Record<string, string>; nodeOptions?: string[] };

/** The service as its user runs it: a process of its own on a data folder of its own. */
export type Deployment = {
  url: string;
  token: string;
  dataFolder: string;
  pid: number;
  /** All that it has printed so far. */
  output: () => string;
  /** Sends a request with the deployment's own token unless another is given. */
  api: <Data = Record<string, string>>(method: string, path: string, sent?: Sent) => Promise<Answer<Data>>;
  /** Signals the process and tells how it ended. */
  stop: (signal?: NodeJS.Signals) => Promise<Ended>;
  ended: Promise<Ended>;
};

const running = new Set<ChildProcess>();
const folders = new Set<string>();

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) await untilNoneRunsOn(folder);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A folder of the test's own, removed after its file's last test. */
export function newFolder(): string {
  const folder = createTemporaryFolder();
  folders.add(folder);
  return folder;
}

/** Where Node keeps what it has compiled: most of a start's time is saved by it, and tests start a lot. */
const NODE_COMPILE_CACHE = join(tmpdir(), 'crewboard-compile-cache');

/** Starts a program of the repository; `grown` is called with all that it has printed whenever that grows. */
export function start(args: string[], environment: Record<string, string>, grown: (stdout: string) => void = () => {}) {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...environment };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
    grown(output.stdout);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, ...output });
    }),
  );
  return { child, output, ended };
}

/** Runs a program of the repository to its end. */
export function run(args: string[], environment: Record<string, string>): Promise<Ended> {
  return start(args, environment).ended;
}

/** Starts `infra/local/main.ts` without waiting until it serves. */
export function launch({ dataFolder = newFolder(), environment = {}, nodeOptions = [] }: Options = {}) {
  let isReady = () => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  const settings = { PORT: '0', CREWBOARD_DATA: dataFolder, POWERTOOLS_LOG_LEVEL: 'DEBUG', ...environment };
  const launched = start([...nodeOptions, 'infra/local/main.ts'], settings, (text) => {
    if (/^ready$/m.test(text)) isReady();
  });
  return { ...launched, ready, dataFolder };
}

/** Starts the service and waits until it says that it serves. */
export async function startDeployment(options: Options = {}): Promise<Deployment> {
  const { child, output, ended, ready, dataFolder } = launch(options);
  const early = await Promise.race([ready, ended]);
  if (early) throw new Error(`The service ended with code ${early.code}: ${early.stderr}`);
  const url = /^Crewboard is at (\S+)$/m.exec(output.stdout)?.[1] as string;
  const token = /^Your token is +(\S+)$/m.exec(output.stdout)?.[1] as string;
  return {
    url,
    token,
    dataFolder,
    pid: child.pid as number,
    output: () => output.stdout + output.stderr,
    api: callerOf(url, token),
    stop: (signal = 'SIGINT') => {
      child.kill(signal);
      return ended;
    },
    ended,
  };
}

/** Sends requests to a service by HTTP, with this token unless another is given. */
export function callerOf(url: string, token: string): Deployment['api'] {
  return (method, path, sent = {}) => request(url, method, path, { token, ...sent });
}

async function request<Data>(url: string, method: string, path: string, sent: Sent): Promise<Answer<Data>> {
  const { body, headers = {}, token } = sent;
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = text !== '' && !answer.headers.get('content-type')?.startsWith('text/');
  return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : {} };
}

/** Waits until a condition holds, for at most a minute. */
export async function until<Value>(what: string, look: () => Promise<Value> | Value, within = 60_000): Promise<Value> {
  const deadline = Date.now() + within;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`It did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until the engine of a data folder has gone, as it must once the service has. */
export async function untilNoneRunsOn(dataFolder: string): Promise<void> {
  await until(`no process runs on ${dataFolder}`, () => processesOn(dataFolder).length === 0);
}

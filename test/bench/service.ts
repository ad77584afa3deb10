import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findRunning } from '../../infra/local/running.ts';
import { type Api, successOf } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';
import { startArguments } from '../processes/service-process.ts';
import { type Bench, createFolder } from './bench.ts';
import { cpuOfTree, residentOfTree } from './process-stats.ts';

/** A service of ours or of others that is measured: its name, and the user and system time of all its processes, in ms. */
export type Subject = { name: string; cpu: () => number };

/** A service that publishes events to webhooks. */
export type Publisher = Subject & {
  /** Registers a webhook for each URL, in a new organization. */
  subscribe: (urls: readonly string[]) => Promise<Subscription>;
};

type Subscription = {
  /** Publishes an event to each webhook, with this title in its body. */
  publish: (title: string) => Promise<unknown>;
  unsubscribe: () => Promise<unknown>;
};

/** The service as `npm start` runs it: a process of its own, and those below it, which earlier versions had. */
export type Service = Publisher & {
  url: string;
  /** Resident memory (RSS), in MiB. */
  memory: () => number;
  /** Creates an organization, and returns a token of it. */
  newToken: () => Promise<string>;
  newOrganization: () => Promise<Api>;
  stop: () => Promise<void>;
};

/** How long after the build of the console its process ends, in milliseconds. */
const buildEndsWithinMs = 1_000;

/** The highest limit of requests, for boards that are written before they are measured. */
export const unlimited = { REQUESTS_PER_MINUTE: '1000000' };

/** The folder of its code, this checkout by default; its data folder, by default a new one; and more environment variables. */
type Start = { checkout?: string; dataFolder?: string; environment?: Record<string, string> };

/** Starts the service on a free port. */
export async function startService(
  bench: Bench,
  { checkout = process.cwd(), dataFolder = createFolder(bench), environment }: Start = {},
): Promise<Service> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, PORT: '0', CREWBOARD_DATA: dataFolder, MODEL_LATENCY_MS: '0', ...environment };
  const child = spawn(process.execPath, startArguments(checkout), {
    cwd: checkout,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async () => {
    if (child.exitCode === null && child.kill('SIGINT')) await once(child, 'exit');
  };
  bench.atEnd(stop);
  await new Promise<void>((resolve, reject) => {
    let output = '';
    child.once('exit', (code) => reject(new Error(`The service ended with code ${code}.`)));
    child.stdout.on('data', (text: Buffer) => {
      output += text;
      if (/^ready$/m.test(output)) resolve();
    });
  });
  // The rest of its output is its log.
  child.stdout.removeAllListeners('data').resume();
  const { url } = await findRunning(dataFolder);
  // The console is built after the start, by a process that ends then. Neither is part of the figures.
  await fetch(url);
  await pause(buildEndsWithinMs);
  const pid = child.pid as number;
  const newToken = async () => {
    // The checkout's own command: another checkout may store tokens in another form.
    const command = [join(checkout, 'infra/cli/main.ts'), 'token', 'create', '--org', `org-${randomUUID()}`];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: checkout, env });
    return stdout.trim();
  };
  const newOrganization = async () => createApiOverHttp(url, await newToken());
  return {
    name: checkout === process.cwd() ? 'this' : checkout,
    url,
    cpu: () => cpuOfTree(pid),
    memory: () => residentOfTree(pid),
    newToken,
    newOrganization,
    subscribe: async (urls) => subscribe(await newOrganization(), urls),
    stop,
  };
}

async function subscribe(api: Api, urls: readonly string[]): Promise<Subscription> {
  const webhooks: string[] = [];
  for (const url of urls) {
    const body = { url, events: ['task.created'], secret: 'a secret to sign with' };
    webhooks.push(successOf(await api.registerWebhook({ body })).id);
  }
  return {
    publish: async (title) => successOf(await api.createTask({ body: { title } })),
    async unsubscribe() {
      for (const id of webhooks) successOf(await api.deleteWebhook({ params: { id } }));
    },
  };
}

/** Measures the CPU time of a service without any load, in ms a ms. */
export async function idleCpuOf({ cpu }: Subject, seconds: number): Promise<number> {
  const before = { cpu: cpu(), at: performance.now() };
  await pause(seconds * 1000);
  return (cpu() - before.cpu) / (performance.now() - before.at);
}

/** Measures the CPU time of a service under a load, minus what it takes without any, in ms. */
export async function cpuUsedBy(
  { service: { cpu }, idle }: { service: Subject; idle: number },
  load: () => Promise<unknown>,
): Promise<number> {
  const before = { cpu: cpu(), at: performance.now() };
  await load();
  return cpu() - before.cpu - idle * (performance.now() - before.at);
}

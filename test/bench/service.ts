import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findRunning } from '../../infra/local/running.ts';
import { type Api, successOf } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';
import { startArguments } from '../service-process.ts';
import { type Bench, createFolder } from './bench.ts';
import { cpuOfTree, residentOfTree } from './process-stats.ts';

/** The service as `npm start` runs it: a process of its own, and those below it, which earlier versions had. */
export type Service = {
  name: string;
  /** User and system time so far, in ms. */
  cpu: () => number;
  /** Resident memory (RSS), in MiB. */
  memory: () => number;
  newOrganization: () => Promise<Api>;
};

/** How long after the build of the console its process ends, in milliseconds. */
const buildEndsWithinMs = 1_000;

/** Starts the service of a checkout, this one by default, on a free port and a new data folder. */
export async function startService(bench: Bench, checkout = process.cwd()): Promise<Service> {
  const dataFolder = createFolder(bench);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, PORT: '0', CREWBOARD_DATA: dataFolder, MODEL_LATENCY_MS: '0' };
  const child = spawn(process.execPath, startArguments(checkout), {
    cwd: checkout,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  bench.atEnd(async () => {
    if (child.exitCode === null && child.kill('SIGINT')) await once(child, 'exit');
  });
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
  return {
    name: checkout === process.cwd() ? 'this' : checkout,
    cpu: () => cpuOfTree(pid),
    memory: () => residentOfTree(pid),
    async newOrganization() {
      // The checkout's own command: another checkout may store tokens in another form.
      const command = [join(checkout, 'infra/cli/main.ts'), 'token', 'create', '--org', `org-${randomUUID()}`];
      const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: checkout, env });
      return createApiOverHttp(url, stdout.trim());
    },
  };
}

export async function subscribe(service: Service, urls: readonly string[]) {
  const api = await service.newOrganization();
  const webhooks: string[] = [];
  for (const url of urls) {
    const body = { url, events: ['task.created'], secret: 'a secret to sign with' };
    webhooks.push(successOf(await api.registerWebhook({ body })).id);
  }
  return {
    /** Publishes an event to each webhook, with this title in its body. */
    publish: async (title: string) => successOf(await api.createTask({ body: { title } })),
    async unsubscribe() {
      for (const id of webhooks) successOf(await api.deleteWebhook({ params: { id } }));
    },
  };
}

/** Measures the CPU time of a service without any load, in ms a ms. */
export async function idleCpuOf({ cpu }: Service, seconds: number): Promise<number> {
  const before = { cpu: cpu(), at: performance.now() };
  await pause(seconds * 1000);
  return (cpu() - before.cpu) / (performance.now() - before.at);
}

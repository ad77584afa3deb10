import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findRunning, tableName } from '../../infra/local/running.ts';
import { environment } from '../../lib/deployment/environment.ts';
import type { Bench } from './bench.ts';
import { cpuOfTree } from './process-cpu.ts';
import { processNamed, residentOf } from './process-memory.ts';
import { request } from './request.ts';
import type { Subject } from './subject.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Sends a request as one organization and answers its `data`; anything but 2xx is an error. */
export type Api = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

/** The service as `npm start` runs it: a process of its own, with its table engine below it. */
export type Service = Subject & {
  pid: number;
  /** Where its table's engine answers, and the table. */
  table: { endpoint: string; tableName: string };
  /** How long it took from its start to `ready`, in ms. */
  readyMs: number;
  stop: () => Promise<void>;
  /** Makes an organization that has nothing yet. */
  newOrganization: () => Promise<Api>;
};

type Options = {
  /** The folder of its data; one of its own if none is given. */
  dataFolder?: string;
  /** The checkout whose service is started; this one if none is given. */
  checkout?: string;
};

/** Starts the service on a free port. */
export async function startService(
  bench: Bench,
  { dataFolder = temporaryFolder(bench), checkout = process.cwd() }: Options = {},
): Promise<Service> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, PORT: '0', CREWBOARD_DATA: dataFolder, MODEL_LATENCY_MS: '0' };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(checkout, 'infra/local/main.ts')], {
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
  const readyMs = performance.now() - startedAt;
  // What else it prints is its log.
  child.stdout.removeAllListeners('data').resume();
  const { url, environment: variables } = await findRunning(dataFolder);
  const pid = child.pid as number;
  const engine = processNamed('dynoxide', pid);

  /** Has the checkout's own command create a token: another checkout may store tokens in another form. */
  const newToken = async () => {
    const command = [join(checkout, 'infra/cli/main.ts'), 'token', 'create', '--org', `org-${randomUUID()}`];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: checkout, env });
    return stdout.trim();
  };
  const newOrganization: Service['newOrganization'] = async () => {
    const token = await newToken();
    return async (method, path, body) => {
      const answer = await request(`${url}${path}`, method, token, body);
      return (answer as { data: Record<string, unknown> } | undefined)?.data ?? {};
    };
  };
  return {
    name: checkout === process.cwd() ? 'this' : checkout,
    pid,
    table: { endpoint: variables[environment.dynamodbEndpoint] as string, tableName },
    readyMs,
    stop,
    cpu() {
      const store = cpuOfTree(engine);
      return { service: cpuOfTree(pid) - store, store };
    },
    memory: () => ({ service: residentOf(pid), store: residentOf(engine) }),
    newOrganization,
    async subscribe(urls) {
      const api = await newOrganization();
      const ids: unknown[] = [];
      for (const url of urls) {
        const webhook = { url, events: ['task.created'], secret: 'a secret to sign with' };
        ids.push((await api('POST', '/api/webhooks/register', webhook)).id);
      }
      return {
        publish: (title) => api('POST', '/api/kanban-tasks', { title }),
        async attempts() {
          const attempts: unknown = await api('GET', `/api/webhooks/${ids[0]}/deliveries?limit=100`);
          return (attempts as unknown[]).length;
        },
        async end() {
          for (const id of ids) await api('DELETE', `/api/webhooks/${id}`);
        },
      };
    },
  };
}

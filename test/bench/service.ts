import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findRunning, tableName } from '../../infra/local/running.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { type Api, dataOf, successOf } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';
import { type Bench, createFolder } from './bench.ts';
import { cpuOfTree, processNamed, residentOf } from './process-stats.ts';
import type { Subject } from './subject.ts';

/** The service as `npm start` runs it: a process of its own, with its table engine below it. */
export type Service = Subject & {
  /** The endpoint of its table's engine, and the name of the table. */
  table: { endpoint: string; tableName: string };
  /** Creates an organization, and the API with its token. */
  newOrganization: () => Promise<Api>;
};

/** Starts the service of a checkout, this one by default, on a free port and a new data folder. */
export async function startService(
  bench: Bench,
  { checkout = process.cwd() }: { checkout?: string } = {},
): Promise<Service> {
  const dataFolder = createFolder(bench);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, PORT: '0', CREWBOARD_DATA: dataFolder, MODEL_LATENCY_MS: '0' };
  const child = spawn(process.execPath, [join(checkout, 'infra/local/main.ts')], {
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
  const { url, environment: variables } = await findRunning(dataFolder);
  const pid = child.pid as number;
  const engine = processNamed('dynoxide', pid);

  /** Calls the checkout's own command: another checkout may store tokens in another form. */
  const newOrganization = async () => {
    const command = [join(checkout, 'infra/cli/main.ts'), 'token', 'create', '--org', `org-${randomUUID()}`];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: checkout, env });
    return createApiOverHttp(url, stdout.trim());
  };
  return {
    name: checkout === process.cwd() ? 'this' : checkout,
    table: { endpoint: variables[environment.dynamodbEndpoint] as string, tableName },
    cpu() {
      const store = cpuOfTree(engine);
      return { service: cpuOfTree(pid) - store, store };
    },
    memory: () => ({ service: residentOf(pid), store: residentOf(engine) }),
    newOrganization,
    async subscribe(urls) {
      const api = await newOrganization();
      const ids: string[] = [];
      for (const url of urls) {
        const webhook = { url, events: ['task.created'], secret: 'a secret to sign with' };
        ids.push(successOf(await api.registerWebhook({ body: webhook })).id);
      }
      return {
        publish: async (title) => successOf(await api.createTask({ body: { title } })),
        async attempts() {
          const params = { id: ids[0] as string };
          return dataOf<unknown[]>(await api.listDeliveries({ params, query: 'limit=100' })).length;
        },
        async end() {
          for (const id of ids) successOf(await api.deleteWebhook({ params: { id } }));
        },
      };
    },
  };
}

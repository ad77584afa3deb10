import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { findRunning, tableName } from '../../infra/local/running.ts';
import { openApp } from '../../lib/app.ts';
import { environment } from '../../lib/contract/deployment.ts';
import { scopes } from '../../lib/contract/endpoint.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import type { Bench } from './bench.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Sends a request as one organization and answers its `data`; anything but 2xx is an error. */
type Api = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

/** The service as `npm start` runs it: a process of its own, with its table engine below it. */
export type Service = {
  pid: number;
  /** Where its table's engine answers, and the table. */
  table: { endpoint: string; tableName: string };
  /** How long it took from its start to `ready`, in ms. */
  readyMs: number;
  stop: () => Promise<void>;
  /** Makes an organization that has nothing yet. */
  newOrganization: () => Promise<Api>;
};

/** Starts the service on a free port and a data folder, of its own if none is given. */
export async function startService(bench: Bench, dataFolder = temporaryFolder(bench)): Promise<Service> {
  const { PATH, HOME } = process.env;
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['infra/local/main.ts'], {
    env: { PATH, HOME, PORT: '0', CREWBOARD_DATA: dataFolder, MODEL_LATENCY_MS: '0' },
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
  const app = openApp({ environment: variables, clock: Date.now });
  return {
    pid: child.pid as number,
    table: { endpoint: variables[environment.dynamodbEndpoint] as string, tableName },
    readyMs,
    stop,
    async newOrganization() {
      const organization = `org-${randomUUID()}` as Organization;
      const token = await issueToken(app, { organization, scopes });
      return (method, path, body) => request(`${url}${path}`, method, token, body);
    },
  };
}

async function request(url: string, method: string, token: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} was answered ${answer.status}: ${text}`);
  return text ? (JSON.parse(text) as { data: Record<string, unknown> }).data : {};
}

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { findRunning } from '../../infra/local/running.ts';
import { openApp } from '../../lib/app.ts';
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
  /** Makes an organization that has nothing yet. */
  newOrganization: () => Promise<Api>;
};

/** Starts the service on a free port and a data folder of its own. */
export async function startService(bench: Bench): Promise<Service> {
  const dataFolder = temporaryFolder(bench);
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['infra/local/main.ts'], {
    env: { PATH, HOME, PORT: '0', CREWBOARD_DATA: dataFolder },
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
  // What else it prints is its log.
  child.stdout.removeAllListeners('data').resume();
  const { url, environment } = await findRunning(dataFolder);
  const app = openApp({ environment, clock: Date.now });
  return {
    pid: child.pid as number,
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

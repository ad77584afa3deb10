import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, CrewboardError, createClient } from '../../../lib/client/client.ts';
import { Problem } from '../../problem.ts';
import { startDeployment } from '../deployment.ts';
import { findRunning } from '../running.ts';
import { readLocalSettings } from '../settings.ts';

/** The time between two looks at something that the demo waits for. */
export const pollMs = 50;

/** A resource that the demo has created. */
type Created = { kind: keyof typeof deletions; id: string };

const deletions = {
  agent: (api: Client, name: string) => api.deleteAgent({ params: { name } }),
  task: (api: Client, id: string) => api.deleteTask({ params: { id } }),
  webhook: (api: Client, id: string) => api.deleteWebhook({ params: { id } }),
};

/** The connection of the demo to a service. */
export type DemoClient = {
  url: string;
  token: string;
  /** Its calls throw after an interruption, before they send a request: what a request creates is always known. */
  api: Client;
  /** Stops the service, if the demo has started it. */
  stop: () => Promise<void>;
  /** The resources that the demo created and `disconnectDemo` deletes, oldest first. */
  created: Created[];
  /** Whether the user has interrupted the demo. The next call or wait then throws. */
  isInterrupted: boolean;
};

/**
 * Connects to the running service on the data folder. Starts a new service on a temporary folder if none is running.
 *
 * @throws `Problem` if the data is to be kept and no service is running
 */
export async function connectDemo(keep: boolean): Promise<DemoClient> {
  const settings = readLocalSettings(process.env);
  const running = await findRunning(settings.dataFolder).catch(() => undefined);
  if (running) {
    const token = readFileSync(join(settings.dataFolder, 'token'), 'utf8').trim();
    return createDemoClient(running.url, token, async () => {});
  }
  if (keep) throw new Problem('--keep needs a running service; start one with npm start in another terminal.');
  console.log('No service is running here, so the demo starts its own.');
  process.env.POWERTOOLS_LOG_LEVEL ??= 'SILENT';
  const dataFolder = mkdtempSync(join(tmpdir(), 'crewboard-demo-'));
  const { url, token, stop } = await startDeployment({ ...settings, dataFolder, port: 0 });
  return createDemoClient(url, token, async () => {
    await stop();
    rmSync(dataFolder, { recursive: true });
  });
}

function createDemoClient(url: string, token: string, stop: DemoClient['stop']): DemoClient {
  const fetchUninterrupted: typeof fetch = async (target, init) => {
    throwIfInterrupted(client);
    return fetch(target, init);
  };
  const api = createClient({ url, token, tries: 1, fetch: fetchUninterrupted });
  const client: DemoClient = { url, token, api, stop, created: [], isInterrupted: false };
  return client;
}

/**
 * Deletes the resources that the demo created, the newest first, and stops the service if the demo started it.
 *
 * @param keep deletes only webhooks that are still in `created`: their receiver stops with the demo
 * @throws `Problem` if a resource could not be deleted; the others are deleted anyway
 */
export async function disconnectDemo({ url, token, created, stop }: DemoClient, keep: boolean): Promise<void> {
  const api = createClient({ url, token });
  const remaining: string[] = [];
  for (const { kind, id } of created.splice(0).reverse())
    if (!keep || kind === 'webhook') await deletions[kind](api, id).catch(() => remaining.push(`the ${kind} ${id}`));
  await stop();
  if (remaining.length > 0) throw new Problem(`${remaining.join(' and ')} could not be deleted.`);
}

/**
 * Calls a function until it returns a value other than `undefined` and `false`, and returns that value.
 *
 * @param what the name of the value, for the error message
 * @throws `Problem` if there is no value within these seconds
 */
export async function waitFor<Value>(
  client: DemoClient,
  what: string,
  withinSeconds: number,
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> {
  const deadline = Date.now() + withinSeconds * 1000;
  for (;;) {
    throwIfInterrupted(client);
    const value = await look();
    if (value) return value;
    if (Date.now() > deadline) throw new Problem(`${what} did not happen within ${withinSeconds} s.`);
    await pause(pollMs);
  }
}

function throwIfInterrupted({ isInterrupted }: DemoClient): void {
  if (isInterrupted) throw new Problem('it was interrupted.');
}

/** Returns why the demo has failed, in words for its user; `undefined` for an error that only a developer can explain. */
export function problemOfCall(error: unknown): string | undefined {
  if (error instanceof Problem) return error.message;
  if (!(error instanceof CrewboardError)) return undefined;
  const { cause, code, message, method, url } = error;
  // The client reports an interruption, which ends its fetch, as the cause of a missing response.
  if (cause instanceof Problem) return cause.message;
  if (url === undefined) return message;
  const { origin, pathname } = new URL(url);
  return code === 'no_response'
    ? `the service at ${origin} does not answer.`
    : `${method} ${pathname} failed: ${message}`;
}

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../problem.ts';
import { startDeployment } from '../deployment.ts';
import { findRunning } from '../running.ts';
import { readLocalSettings } from '../settings.ts';

/** The connection of the demo to a service. */
export type DemoClient = {
  url: string;
  token: string;
  /** Stops the service, if the demo has started it. */
  stop: () => Promise<void>;
  /** The paths of the resources that the demo created and `disconnectDemo` deletes, oldest first. */
  created: string[];
  /** Whether the user has interrupted the demo. The next call or wait then throws. */
  isInterrupted: boolean;
};

/** An error response of the service. */
type ErrorResponse = { status: number; code: string; message: string };

type Envelope = { success: boolean; data: never; error?: { code: string; message: string } };

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
    return { url: running.url, token, stop: async () => {}, created: [], isInterrupted: false };
  }
  if (keep) throw new Problem('--keep needs a running service; start one with npm start in another terminal.');
  console.log('No service is running here, so the demo starts its own.');
  process.env.POWERTOOLS_LOG_LEVEL ??= 'SILENT';
  const dataFolder = mkdtempSync(join(tmpdir(), 'crewboard-demo-'));
  const { url, token, stop } = await startDeployment({ ...settings, dataFolder, port: 0 });
  return {
    url,
    token,
    stop: async () => {
      await stop();
      rmSync(dataFolder, { recursive: true });
    },
    created: [],
    isInterrupted: false,
  };
}

/**
 * Deletes the resources that the demo created, the newest first, and stops the service if the demo started it.
 *
 * @param keep deletes only webhooks that are still in `created`: their receiver stops with the demo
 * @throws `Problem` if a resource could not be deleted; the others are deleted anyway
 */
export async function disconnectDemo(client: DemoClient, keep: boolean): Promise<void> {
  const remaining = [];
  const created = client.created.splice(0).reverse();
  for (const path of keep ? created.filter((one) => one.startsWith('/api/webhooks/')) : created)
    if ((await send(client, 'DELETE', path)).error) remaining.push(path);
  await client.stop();
  if (remaining.length > 0) throw new Problem(`${remaining.join(' and ')} could not be deleted.`);
}

/**
 * Sends a request and returns its data.
 *
 * @throws `Problem` for an error response
 */
export async function callApi<Data = Record<string, string>>(
  client: DemoClient,
  method: string,
  path: string,
  body?: object,
): Promise<Data> {
  throwIfInterrupted(client);
  const { data, error } = await send(client, method, path, body);
  if (error) throw new Problem(`${method} ${path} failed: ${error.message}`);
  return data;
}

/**
 * Sends a request that must fail, and returns its error response.
 *
 * @throws `Problem` if the request succeeds
 */
export async function callForError(
  client: DemoClient,
  method: string,
  path: string,
  body?: object,
): Promise<ErrorResponse> {
  throwIfInterrupted(client);
  const { status, error } = await send(client, method, path, body);
  if (!error) throw new Problem(`${method} ${path} succeeded, but an error was expected.`);
  return { status, ...error };
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
    await pause(50);
  }
}

function throwIfInterrupted({ isInterrupted }: DemoClient): void {
  if (isInterrupted) throw new Problem('it was interrupted.');
}

async function send({ url, token }: DemoClient, method: string, path: string, body?: object) {
  const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
  const sent = fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const answer = await sent.catch(() => {
    throw new Problem(`the service at ${url} does not answer.`);
  });
  return { status: answer.status, ...((await answer.json()) as Envelope) };
}

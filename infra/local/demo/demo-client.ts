import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startDeployment } from '../deployment.ts';
import { Problem } from '../problem.ts';
import { findRunning } from '../running.ts';
import { readSettings } from '../settings.ts';

/** Where a story is told: a service, and what it answers. */
export type Stage = {
  url: string;
  /**
   * Sends a request and answers its data.
   *
   * @throws `Problem` for a refusal
   */
  call: <Data = Record<string, string>>(method: string, path: string, body?: object) => Promise<Data>;
  /**
   * Sends a request that is to be refused, and answers the refusal.
   *
   * @throws `Problem` where it is not
   */
  errorOf: (method: string, path: string, body?: object) => Promise<ApiError>;
  /**
   * Looks again and again until there is something, and answers it.
   *
   * @throws `Problem` that says what did not come within so many seconds
   */
  waitFor: <Value>(what: string, withinSeconds: number, look: Look<Value>) => Promise<Value>;
  /** Has a thing that the story made deleted again at its end. */
  made: (path: string) => void;
  /** Lets the story go no further: what it does next throws. */
  interrupt: () => void;
  /** Deletes what was made, the newest first, and leaves the service as it was. */
  leave: () => Promise<void>;
};

type Look<Value> = () => Promise<Value | undefined | false> | Value | undefined | false;

/** A refusal of the service, and its status. */
type ApiError = { status: number; code: string; message: string };

type Envelope = { success: boolean; data: never; error?: { code: string; message: string } };

/** A service to talk to, and how it is left. */
type Service = { url: string; token: string; stop: () => Promise<void> };

/** Finds the running service on the data folder, or starts a fresh one on a folder that goes with it. */
export async function findStage(): Promise<Stage> {
  const { url, token, stop } = await findService();
  const made: string[] = [];
  let isInterrupted = false;
  const goOn = () => {
    if (isInterrupted) throw new Problem('it was interrupted.');
  };
  const send = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
    const sent = fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const answer = await sent.catch(() => {
      throw new Problem(`the service at ${url} does not answer any more.`);
    });
    return { status: answer.status, ...((await answer.json()) as Envelope) };
  };
  const call: Stage['call'] = async (method, path, body) => {
    goOn();
    const { data, error } = await send(method, path, body);
    if (error) throw new Problem(`${method} ${path} was refused: ${error.message}`);
    return data;
  };
  return {
    url,
    call,
    errorOf: async (method, path, body) => {
      goOn();
      const { status, error } = await send(method, path, body);
      if (!error) throw new Problem(`${method} ${path} was not refused.`);
      return { status, ...error };
    },
    waitFor: async (what, withinSeconds, look) => {
      const deadline = Date.now() + withinSeconds * 1000;
      for (;;) {
        goOn();
        const value = await look();
        if (value) return value;
        if (Date.now() > deadline) throw new Problem(`${what} did not come within ${withinSeconds} s.`);
        await pause(50);
      }
    },
    made: (path) => made.push(path),
    interrupt: () => {
      isInterrupted = true;
    },
    leave: async () => {
      // One that cannot be deleted keeps no other from it.
      const left = [];
      for (const path of made.splice(0).reverse()) if ((await send('DELETE', path)).error) left.push(path);
      await stop();
      if (left.length > 0) throw new Problem(`${left.join(' and ')} could not be deleted.`);
    },
  };
}

async function findService(): Promise<Service> {
  const settings = readSettings(process.env);
  const running = await findRunning(settings.dataFolder).catch(() => undefined);
  if (running) {
    const token = readFileSync(join(settings.dataFolder, 'token'), 'utf8').trim();
    return { url: running.url, token, stop: async () => {} };
  }
  console.log('No service is running here, so the demo starts one of its own.');
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
  };
}

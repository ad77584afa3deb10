import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../problem.ts';
import { closeStreamTrimmer, createStreamTrimmer, prepareStream, trimStream } from '../stream/stream-cleanup.ts';
import type { PositionStore } from '../stream/stream-positions.ts';
import { findEngine } from './find-engine.ts';

/** A running table engine. `ended` resolves when its process has ended, for whatever reason. */
export type Engine = { endpoint: string; ended: Promise<void>; stop: () => Promise<void> };

/** The files of the bundled engine: its database and its output. */
export type EngineFiles = { database: string; log: string };

/** The program that runs the engine and kills it when this process ends. */
const guard = join(import.meta.dirname, 'engine-guard.js');

const startedWithinMs = 15_000;

/** How often handled records of the stream are deleted. A record stays at least this long after it was handled. */
const trimEveryMs = 20_000;

/**
 * Starts the bundled DynamoDB engine on a free loopback port. Prepares its stream first; a new database is created by an
 * extra start of the engine before that.
 *
 * @param positions the stored positions in the stream of this database; without them no record is deleted
 * @throws `Problem` if no engine is bundled for this platform or it does not start
 */
export async function startEngine(
  files: EngineFiles,
  positions: PositionStore = { read: () => ({}), write: () => {} },
): Promise<Engine> {
  if (!existsSync(files.database)) await (await launch(files)).stop();
  prepareStream(files.database, positions);
  const engine = await launch(files);
  const trimmer = createStreamTrimmer(files.database, positions);
  const timer = setInterval(() => void trimStream(trimmer).catch(console.error), trimEveryMs).unref();
  return {
    ...engine,
    stop: async () => {
      clearInterval(timer);
      closeStreamTrimmer(trimmer);
      await engine.stop();
    },
  };
}

async function launch({ database, log }: EngineFiles): Promise<Engine> {
  const program = findEngine(process.platform, process.arch);
  const port = await freePort();
  const output = openSync(log, 'a', 0o600);
  const args = ['serve', '--port', String(port), '--db-path', database];
  const child = spawn(process.execPath, [guard, program, ...args], {
    // Ctrl-C in a terminal does not reach the engine, so current writes finish before this process stops it.
    detached: true,
    windowsHide: true,
    stdio: ['pipe', output, output],
  });
  closeSync(output);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.stdin?.end();
    await ended;
  };
  try {
    await waitUntilAnswering(endpoint, () => child.exitCode !== null);
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, ended, stop };
}

/** Returns a loopback port that is free now, for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function waitUntilAnswering(endpoint: string, hasEnded: () => boolean): Promise<void> {
  const deadline = performance.now() + startedWithinMs;
  while (performance.now() < deadline && !hasEnded()) {
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(1_000) });
      return;
    } catch {
      await pause(20);
    }
  }
  throw new Problem('The table engine did not start; see engine.log in the data folder.');
}

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../problem.ts';
import { openTrimmer, tidyStream } from '../stream/stream-cleanup.ts';
import type { KeptPositions } from '../stream/stream-positions.ts';

/** A running table engine. `ended` resolves when it has, whoever ended it. */
export type Engine = { endpoint: string; ended: Promise<void>; stop: () => Promise<void> };

/** Where the bundled engine keeps its data, and what it prints. */
export type EngineFiles = { database: string; log: string };

/**
 * The engine as a child that cannot outlive us: the shell waits on its standard input, a pipe that ends with this
 * process however it ends, and then kills the engine. A terminal's Ctrl-C does not reach it (`detached`), so writes
 * under way finish before we stop it ourselves.
 */
const leashed = 'exec 3<&0; "$@" & engine=$!; (cat <&3 >/dev/null; kill $engine 2>/dev/null) & wait $engine';

const startedWithinMs = 15_000;

/** How often handled records of the stream are deleted. Each stays at least for this long after it was handled. */
const trimEveryMs = 20_000;

/**
 * Starts the bundled DynamoDB engine on a free port of the loopback, and prepares its stream before: a database that is
 * new is first created by a start of its own.
 *
 * @param positions how far the stream of this database has been handled; without them no record of it is deleted
 * @throws `Problem` where the platform has none, or it does not come up
 */
export async function startEngine(
  files: EngineFiles,
  positions: KeptPositions = { read: () => ({}), write: () => {} },
): Promise<Engine> {
  if (!existsSync(files.database)) await (await launch(files)).stop();
  tidyStream(files.database, positions);
  const engine = await launch(files);
  const trimmer = openTrimmer(files.database, positions);
  const timer = setInterval(() => void trimmer.pass().catch(console.error), trimEveryMs).unref();
  return {
    ...engine,
    stop: async () => {
      clearInterval(timer);
      trimmer.close();
      await engine.stop();
    },
  };
}

async function launch({ database, log }: EngineFiles): Promise<Engine> {
  const program = bundledEngine();
  const port = await freePort();
  const output = openSync(log, 'a');
  const args = ['serve', '--port', String(port), '--db-path', database];
  const child = spawn('/bin/sh', ['-c', leashed, 'sh', program, ...args], {
    detached: true,
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
    await answering(endpoint, () => child.exitCode !== null);
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, ended, stop };
}

/** The path of the engine that npm installed for this platform. */
function bundledEngine(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dynoxide');
  } catch {
    throw new Problem(
      `No table engine is bundled for ${process.platform}-${process.arch}; start DynamoDB Local ` +
        '(docker run -p 8000:8000 amazon/dynamodb-local) and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.',
    );
  }
}

/** A port of the loopback that is free now, for what cannot choose one itself. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answering(endpoint: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + startedWithinMs;
  while (Date.now() < deadline && !hasEnded()) {
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(1_000) });
      return;
    } catch {
      await pause(20);
    }
  }
  throw new Problem('The table engine did not start; see engine.log in the data folder.');
}

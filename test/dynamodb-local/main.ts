import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../infra/problem.ts';
import { runToEnd } from '../processes/python.ts';
import { freePort } from '../servers/free-port.ts';
import { isAnswering } from '../servers/is-answering.ts';

/** The exit code for "skipped" of test runners (Automake, Meson). */
const skipped = 77;

const here = import.meta.dirname;
const root = join(here, '..', '..');
const folder = join(root, '.dynamodb-local');

const mainClass = 'software.amazon.dynamodb.services.local.main.ServerRunner';

/** How long the program may take to start, in milliseconds. */
const startMs = 60_000;

/** How long a test may take there, in milliseconds: a command takes about five, and there are thousands in some tests. */
const guardMs = 3_600_000;

/** The tests of a project, and how many workers run them. Each worker has a program of its own, and a new one for each part. */
type Suite = { project: 'quick' | 'slow'; parts: readonly string[]; workers: number };

const cores = availableParallelism();

/** The comparison of the local table with DynamoDB Local; the functions; and the behaviours with their faults and models. */
const suites: Record<string, Suite> = {
  compare: { project: 'slow', parts: ['test/infra/local/table/differential.slow.test.ts'], workers: 1 },
  functions: { project: 'quick', parts: ['test/functions'], workers: cores },
  behaviours: {
    project: 'quick',
    parts: ['test/webhooks', 'test/tasks', 'test/table', 'test/executions'],
    workers: cores,
  },
};

/** A DynamoDB Local that runs. */
type Started = { endpoint: string; stop: () => Promise<void> };

/** A program that is needed is not installed, or does not start. */
class NotInstalled extends Problem {}

/**
 * `npm run test:dynamodb-local -- [compare] [functions] [behaviours]`: fetches DynamoDB Local by Maven, starts it, and runs tests on it: by
 * default all of them. Exits with 1 if a test fails, with 77 if Java or Maven is missing.
 */
async function main(names: readonly string[]): Promise<void> {
  const unknown = names.find((name) => !Object.hasOwn(suites, name));
  if (unknown !== undefined)
    throw new Problem(`There are no tests ${JSON.stringify(unknown)}; name ${Object.keys(suites).join(' or ')}.`);
  await fetchProgram();
  for (const [name, suite] of Object.entries(suites))
    if (names.length === 0 || names.includes(name)) for (const part of suite.parts) await runTests(suite, part);
}

/** Fetches the program and its libraries, unless they are there. */
async function fetchProgram(): Promise<void> {
  if ((await runToEnd('java', ['-version'])).code !== 0)
    throw new NotInstalled('DynamoDB Local needs Java 17 or later, and there is none on the PATH.');
  if (existsSync(folder)) return;
  if ((await runToEnd('mvn', ['-version'])).code !== 0)
    throw new NotInstalled('Maven fetches DynamoDB Local, and there is no mvn on the PATH.');
  console.log('Fetching DynamoDB Local, which has a license of its own: Amazon DynamoDB Local License Agreement.');
  const fetched = `-DoutputDirectory=${folder}`;
  const args = ['--quiet', '--batch-mode', '--file', join(here, 'pom.xml'), 'dependency:copy-dependencies', fetched];
  const { code, output } = await runToEnd('mvn', args);
  if (code === 0) return;
  rmSync(folder, { recursive: true, force: true });
  throw new NotInstalled(`Maven cannot fetch DynamoDB Local:\n${output}`);
}

/** Starts the program on a free port of this machine, with its data in memory. */
async function startDynamoDbLocal(): Promise<Started> {
  const port = await freePort();
  const libraries = [`-Djava.library.path=${folder}`, '-classpath', join(folder, '*')];
  const args = [...libraries, mainClass, '-inMemory', '-disableTelemetry', '-port', String(port)];
  const child = spawn('java', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = () => stopProgram(child);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
  const endpoint = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  while (!(await isAnswering(endpoint))) {
    if (child.exitCode !== null) throw new NotInstalled(`DynamoDB Local ended with code ${child.exitCode}.`);
    if (performance.now() - startedAt > startMs) {
      await stop();
      throw new NotInstalled(`DynamoDB Local does not answer within ${startMs / 1000} s.`);
    }
    await pause(100);
  }
  return { endpoint, stop };
}

async function stopProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null && child.kill()) await once(child, 'exit');
}

/** Runs the tests of a part, with new programs, because one gets slower with each table that it has had. */
async function runTests({ project, workers }: Suite, part: string): Promise<void> {
  const started: Started[] = [];
  try {
    while (started.length < workers) started.push(await startDynamoDbLocal());
    const endpoints = started.map(({ endpoint }) => endpoint).join();
    const limits = ['--testTimeout', String(guardMs), '--maxWorkers', String(workers)];
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const child = spawn(process.execPath, [vitest, 'run', '--project', project, ...limits, part], {
      cwd: root,
      env: { ...process.env, DYNAMODB_LOCAL_ENDPOINTS: endpoints },
      stdio: 'inherit',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Problem('Tests on DynamoDB Local have failed.');
  } finally {
    await Promise.all(started.map(({ stop }) => stop()));
  }
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    if (error instanceof NotInstalled) console.error(`Skipped. ${error.message}`);
    else console.error(error instanceof Problem ? error.message : error);
    process.exit(error instanceof NotInstalled ? skipped : 1);
  },
);

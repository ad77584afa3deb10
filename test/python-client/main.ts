import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Problem } from '../../infra/problem.ts';
import { installPrograms, NoPython, runToEnd } from '../processes/python.ts';
import { startService } from '../processes/service-process.ts';

/** The exit code for "skipped" of test runners (Automake, Meson). */
const skipped = 77;

const here = import.meta.dirname;
const root = join(here, '..', '..');
/** The programs, in the order of their runs. */
const programs = ['create_task.py', 'restore_prompt.py', 'rotate_secret.py', 'mcp_tools.py'].map((name) =>
  join(here, name),
);

/** The example of a receiver. */
const receiver = join(root, 'docs', 'examples', 'fastapi_receiver.py');

/**
 * `npm run test:python`: generates a Python client from `docs/openapi.json`, checks the types of the programs that use
 * it or the MCP server, and runs them against the local service. Then tests the receiver with FastAPI. Exits with 1 if a step
 * fails.
 */
async function main(): Promise<void> {
  const environment = await installPrograms(join(root, '.python-client'), {
    what: 'openapi-python-client, standardwebhooks, mcp and fastapi',
    requirements: join(here, 'requirements.txt'),
  });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'crewboard-python-client-')));
  try {
    const client = await generateClient(environment, folder);
    const run = (name: string, args: string[], variables: Record<string, string> = {}) =>
      runStep(environment, name, args, { PYTHONPATH: client, MYPYPATH: client, ...variables });
    const cache = join(folder, 'mypy');
    await run('mypy', ['--strict', '--follow-imports', 'silent', '--cache-dir', cache, ...programs, receiver]);
    await withService(join(folder, 'data'), async ({ url, token }) => {
      for (const program of programs) await run('python', [program], { CREWBOARD_URL: url, CREWBOARD_TOKEN: token });
    });
    await testReceiver(join(environment, 'python'));
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Generates the client.
 *
 * @returns the folder of its package
 * @throws `Problem` if the generator fails or leaves out a part of the document
 */
async function generateClient(programs: string, folder: string): Promise<string> {
  const client = join(folder, 'client');
  const document = join(root, 'docs', 'openapi.json');
  const args = ['generate', '--path', document, '--output-path', client, '--fail-on-warning'];
  await runStep(programs, 'openapi-python-client', args);
  return client;
}

/** Runs the tests of the receiver, which start it by an interpreter that has its packages. */
async function testReceiver(python: string): Promise<void> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const variables = { ...process.env, PYTHON: python };
  const { code, output } = await runToEnd(process.execPath, [vitest, 'run', '--project', 'python'], variables, root);
  console.log(output.trim());
  if (code !== 0) throw new Problem('The tests of the receiver with FastAPI have failed.');
}

/** Runs a program in Python, and prints its output. */
async function runStep(
  programs: string,
  name: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  const path = { PATH: `${programs}${delimiter}${PATH}`, HOME, PYTHONDONTWRITEBYTECODE: '1' };
  const { code, output } = await runToEnd(join(programs, name), args, { ...path, ...environment });
  console.log(`${name}: ${output.trim()}`);
  if (code !== 0) throw new Problem(`${name} ended with ${code}.`);
}

/** Starts a new service for the time of a function. */
async function withService(
  dataFolder: string,
  use: (address: { url: string; token: string }) => Promise<void>,
): Promise<void> {
  const { child, ready, ended } = startService({ dataFolder });
  try {
    const address = await ready;
    if (!address) throw new Problem(`The service has ended: ${(await ended).stderr}`);
    await use(address);
  } finally {
    child.kill('SIGINT');
    await ended;
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
main().then(
  () => process.exit(0),
  (error: unknown) => {
    if (error instanceof NoPython) console.error(`Skipped. ${error.message}`);
    else console.error(error instanceof Problem ? error.message : error);
    process.exit(error instanceof NoPython ? skipped : 1);
  },
);

import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../lib/client/verify-webhook.ts';
import manifest from '../../package.json' with { type: 'json' };
import { startDeployment } from '../journeys/deployment.ts';
import { createTask } from '../journeys/requests.ts';
import { startReceiver } from '../sender/receiver.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

const execute = promisify(execFile);
const service = await startDeployment();
const folder = createTemporaryFolder();
const { PATH = '', HOME = '' } = process.env;

/** The Node.js of this computer: the first one on the path that is not in a package. */
const systemNode = PATH.split(delimiter)
  .filter((place) => !place.split(sep).includes('node_modules'))
  .map((place) => join(place, 'node'))
  .find(isExecutable);
const nodes = [
  ['of the project', process.execPath],
  ['of this computer', systemNode],
] as const;

/** The path of the packed file. */
let file: string;

beforeAll(async () => {
  const { stdout } = await execute(process.execPath, ['scripts/pack/main.ts', '--to', createTemporaryFolder()]);
  file = stdout.trim();
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  await execute('npm', ['install', file, '--offline', '--no-audit', '--no-fund'], { cwd: folder });
});

/** Runs a program in the folder of the user, with a Node.js that `npx` and its programs use too. */
function run(node: string | undefined, program: string, args: string[]) {
  if (!node) throw new Error('No Node.js is on the path besides that of the project; npm cannot run without one.');
  const variables = { CREWBOARD_URL: service.url, CREWBOARD_TOKEN: service.token };
  const env = { HOME, PATH: `${dirname(node)}${delimiter}${PATH}`, ...variables };
  return execute(program, args, { cwd: folder, env });
}

it('has the name and the version of the project in the name of its file', () => {
  expect(file.split(sep).at(-1)).toBe(`crewboard-${manifest.version}.tgz`);
});

it('contains the client with its types, the program, the licenses and nothing else', async () => {
  const { stdout } = await execute('tar', ['-tzf', file]);
  const modules = ['client', 'index', 'operations', 'verify-webhook'];
  const client = modules.flatMap((name) => [`client/${name}.d.ts`, `client/${name}.js`]);
  const others = ['LICENSE', 'README.md', 'THIRD-PARTY-LICENSES.txt', 'crewboard.js', 'package.json'];
  const files = stdout.trim().split('\n');
  expect(files.map((path) => path.replace(/^package\//, '')).sort()).toEqual([...others, ...client].sort());
});

it('needs no other package, and names no path of the repository', async () => {
  const installed = join(folder, 'node_modules/crewboard');
  const text = (path: string) => readFileSync(join(installed, path), 'utf8');
  const { dependencies, engines, license } = JSON.parse(text('package.json'));
  expect([dependencies, engines, license]).toEqual([undefined, { node: '>=20' }, 'MIT']);
  const { stdout } = await execute('npm', ['ls', '--all', '--parseable'], { cwd: folder });
  expect(stdout.trim().split('\n')).toHaveLength(2);
  for (const path of ['crewboard.js', 'package.json', 'client/client.js', 'client/client.d.ts', 'client/index.d.ts']) {
    expect(text(path)).not.toContain(process.cwd());
    expect(text(path)).not.toMatch(/\binfra\/|node_modules\/\w|\.\.\/lib\/|sourceMappingURL/);
  }
  for (const name of ['commander', 'ora', 'valibot']) expect(text('THIRD-PARTY-LICENSES.txt')).toContain(`${name}\n\n`);
});

describe.each(nodes)('with the Node.js %s', (_, node) => {
  it('lists tasks of a running service', async () => {
    const id = await createTask(service, 'From the package');
    const listed = await run(node, 'npx', ['--offline', 'crewboard', 'tasks', 'list', '--limit', '1', '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject({ data: [{ id }] });
    const table = await run(node, 'npx', ['--offline', 'crewboard', 'tasks', 'list', '--limit', '1']);
    expect(table.stdout).toMatch(/^id +status +priority +agent +worker +title\n.* From the package\n/);
  });

  it('runs an agent until the end', async () => {
    const args = ['--offline', 'crewboard', 'agents', 'run', 'qa-reviewer', 'Look at it.', '--wait'];
    const { stdout, stderr } = await run(node, 'npx', args);
    expect(stdout).toMatch(/ \(simulated\)$/m);
    expect(stderr).toMatch(/ completed after /);
  });

  it('sends a sample event to a receiver, signed', async () => {
    const receiver = await startReceiver();
    const args = ['--offline', 'crewboard', 'trigger', 'task.created', '--forward-to', receiver.url, '--secret', 'key'];
    expect((await run(node, 'npx', args)).stdout).toMatch(
      /^\d\d:\d\d:\d\d +✓ task\.created tk_\w{26} → 127\.0\.0\.1:\d+ 204, /,
    );
    const [{ raw: body, headers } = expect.fail('nothing arrived')] = receiver.received;
    expect(await verifyWebhook({ body, headers, secret: 'key' })).toMatchObject({ event: 'task.created' });
  });

  it('prints the version, and where the commands of operators are', async () => {
    const { stdout } = await run(node, 'npx', ['--offline', 'crewboard', '--version']);
    expect(stdout).toBe(`${manifest.version}\n`);
    const help = await run(node, 'npx', ['--offline', 'crewboard', '--help']);
    expect(help.stdout).toContain('npm run --silent crewboard -- --help');
    const wrong = await run(node, 'npx', ['--offline', 'crewboard', 'token']).catch((error) => error);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("unknown command 'token'")]);
  });
});

describe('the client in a TypeScript program', () => {
  const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc');
  const compile = (...args: string[]) => run(process.execPath, process.execPath, [compiler, ...args]);

  it('compiles with the default settings of the compiler, as in the README of the package, and runs', async () => {
    const readme = readFileSync('scripts/pack/README.md', 'utf8');
    const [, example = ''] = /```ts\n([\s\S]+?)```/.exec(readme) ?? [];
    const program = example
      // The default settings have no types of Node.js.
      .replace(/^/, 'declare const process: { env: Record<string, string | undefined> };\n')
      .replaceAll("'builder'", "'qa-reviewer'");
    writeFileSync(join(folder, 'main.ts'), `${program}\nconsole.log(status, output?.slice(0, 17));\n`);
    await compile('--init');
    await compile('-p', '.');
    for (const [, node] of nodes) {
      const { stdout } = await run(node, 'node', ['main.js']);
      expect(stdout).toBe('completed I have worked on \n');
    }
  });

  it('does not compile if the program names a field that does not exist', async () => {
    const wrong =
      "import { createClient } from 'crewboard';\nawait createClient({ url: '', token: '' }).createTask({ body: { name: '' } });\n";
    writeFileSync(join(folder, 'main.ts'), wrong);
    const { stdout } = await compile('-p', '.').catch((error) => error);
    expect(stdout).toMatch(/main\.ts.*error TS\d+/);
  });
});

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

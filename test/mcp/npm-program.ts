import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Problem } from '../../infra/problem.ts';
import { runToEnd } from '../processes/python.ts';
import { type Address, startService } from '../processes/service-process.ts';

/** A program of npm that calls the MCP server. The project does not depend on it: its suite installs it at the first run. */
export type NpmProgram = {
  /** What messages call it. */
  title: string;
  /** The name of its package, and the version that is installed. */
  name: string;
  version: string;
  /** The file that Node.js runs, in the folder of the package. */
  file: string;
};

/** The exit code for "skipped" of test runners (Automake, Meson). */
const skipped = 77;

/** The program cannot be installed. */
class NotInstalled extends Problem {}

/**
 * Runs a suite to its end, and ends the process: with 0 if `check` succeeds, with 77 if the program cannot be installed,
 * otherwise with 1. A suite calls the MCP server of a new local service with a program of npm.
 *
 * @param check gets the file of the program, the address of the service and an empty folder
 */
export function runSuite(
  program: NpmProgram,
  check: (file: string, service: Address, folder: string) => Promise<void>,
): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  withService(program, check).then(
    () => process.exit(0),
    (error: unknown) => {
      if (error instanceof NotInstalled) console.error(`Skipped. ${error.message}`);
      else console.error(error instanceof Problem ? error.message : error);
      process.exit(error instanceof NotInstalled ? skipped : 1);
    },
  );
}

async function withService(program: NpmProgram, check: Parameters<typeof runSuite>[1]): Promise<void> {
  const file = await install(program);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'crewboard-mcp-')));
  const { child, ready, ended } = startService({ dataFolder: join(folder, 'data') });
  try {
    const address = await ready;
    if (!address) throw new Problem(`The service has ended: ${(await ended).stderr}`);
    await check(file, address, folder);
  } finally {
    child.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Installs a program, again after each change of its version. Returns its file. */
async function install({ title, name, version, file }: NpmProgram): Promise<string> {
  const folder = resolve('node_modules/.cache', name.replace('@', '').replace('/', '-'));
  const ofPackage = join(folder, 'node_modules', name);
  const description = join(ofPackage, 'package.json');
  if (existsSync(description) && JSON.parse(readFileSync(description, 'utf8')).version === version)
    return join(ofPackage, file);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const { code, output } = await runToEnd('npm', ['install', ...options, `${name}@${version}`]);
  if (code !== 0) throw new NotInstalled(`${title} cannot be installed; connect to a registry of npm.\n${output}`);
  return join(ofPackage, file);
}

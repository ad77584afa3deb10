import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Problem } from '../../infra/local/problem.ts';
import { runToEnd } from '../python.ts';
import { startService } from '../service-process.ts';

/** The version of the Inspector. It needs 140 MB, so only this command installs it. */
const inspector = '@modelcontextprotocol/inspector@2.12.0';

/** The exit code for "skipped" of test runners (Automake, Meson). */
const skipped = 77;

const folder = resolve('node_modules/.cache/mcp-inspector');
const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

/** The Inspector cannot be installed. */
class NotInstalled extends Problem {}

/** The exit codes of the Inspector: success, and a tool that reports an error. */
const exitCodes = { success: 0, toolError: 5 };

/**
 * `npm run test:inspector`: calls the MCP server of a new local service with the command line of the MCP Inspector, which
 * also checks that the schemas of all tools are portable. Exits with 1 if a check fails.
 */
async function main(): Promise<void> {
  await install();
  const data = realpathSync(mkdtempSync(join(tmpdir(), 'crewboard-inspector-')));
  const { child, ready, ended } = startService({ dataFolder: join(data, 'data') });
  try {
    const address = await ready;
    if (!address) throw new Problem(`The service has ended: ${(await ended).stderr}`);
    for (const era of ['modern', 'legacy']) await check(era, address, data);
  } finally {
    child.kill('SIGINT');
    await ended;
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function install(): Promise<void> {
  if (existsSync(program)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const { code, output } = await runToEnd('npm', ['install', ...options, inspector]);
  if (code !== 0)
    throw new NotInstalled(`The MCP Inspector cannot be installed; connect to a registry of npm.\n${output}`);
}

/** Calls the service with one era of the protocol. */
async function check(era: string, { url, token }: { url: string; token: string }, home: string): Promise<void> {
  const call = async (args: string[], expected: number = exitCodes.success) => {
    const target = [`${url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`];
    const all = [program, '--cli', ...target, '--protocol-era', era, '--format', 'json', '--quiet', ...args];
    const environment = { PATH: process.env.PATH ?? '', HOME: home };
    const { code, output } = await runToEnd(process.execPath, all, environment);
    if (code !== expected) throw new Problem(`${args.join(' ')} (${era}) ended with ${code}:\n${output}`);
    return output;
  };
  const callTool = (name: string, args: object, expected?: number) =>
    call(['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)], expected);
  const has = (output: string, ...texts: string[]) => {
    const missing = texts.filter((text) => !output.includes(text));
    if (missing.length > 0) throw new Problem(`The output (${era}) lacks ${missing.join(', ')}:\n${output}`);
  };

  has(await call(['--method', 'tools/list', '--strict']), 'create_task', 'delegate_task', 'get_metrics');
  const created = await callTool('create_task', { title: 'Draw the landing page' });
  const [id = ''] = /tk_[0-9A-Z]{26}/.exec(created) ?? [];
  has(await callTool('update_task', { id, status: 'in_progress' }), id, 'in_progress');
  has(
    await callTool('create_task', { titel: 'Draw' }, exitCodes.toolError),
    'validation_failed',
    'did you mean title?',
  );
  has(await call(['--method', 'resources/list']), `crewboard://tasks/${id}`, 'crewboard://agents/qa-reviewer');
  has(await call(['--method', 'resources/templates/list']), 'crewboard://tasks/{id}');
  has(await call(['--method', 'resources/read', '--uri', `crewboard://tasks/${id}`]), 'Draw the landing page');
  has(await call(['--method', 'prompts/list']), 'work_on_next_task');
  const prompt = ['--prompt-name', 'work_on_next_task', '--prompt-args', 'agent=builder'];
  has(await call(['--method', 'prompts/get', ...prompt]), 'list_tasks', 'builder');
  console.log(`The MCP Inspector called all methods in the ${era} era.`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
main().then(
  () => process.exit(0),
  (error: unknown) => {
    if (error instanceof NotInstalled) console.error(`Skipped. ${error.message}`);
    else console.error(error instanceof Problem ? error.message : error);
    process.exit(error instanceof NotInstalled ? skipped : 1);
  },
);

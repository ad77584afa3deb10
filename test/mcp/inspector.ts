import { Problem } from '../../infra/problem.ts';
import { runToEnd } from '../processes/python.ts';
import type { Address } from '../processes/service-process.ts';
import { type NpmProgram, runSuite } from './npm-program.ts';

/** The MCP Inspector. It needs 140 MB. */
const inspector: NpmProgram = {
  title: 'The MCP Inspector',
  name: '@modelcontextprotocol/inspector',
  version: '2.12.0',
  file: 'clients/launcher/build/index.js',
};

/** The exit codes of the Inspector: success, and a tool that reports an error. */
const exitCodes = { success: 0, toolError: 5 };

/** Calls the service with one era of the protocol. */
async function check(program: string, era: string, { url, token }: Address, home: string): Promise<void> {
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
  has(await callTool('update_task', { id, status: 'in_progress' }), id, 'in_progress', 'etag');
  const old = { id, priority: 'low', ifMatch: 'old' };
  has(await callTool('update_task', old, exitCodes.toolError), 'precondition_failed');
  await callTool('update_task', { id, status: 'up_for_review' });
  has(await callTool('review_task', { id, decision: 'send_back', comment: 'Too wide.' }), id, 'backlog');
  has(await callTool('list_comments', { id }), 'Too wide.', 'send_back');
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
  has(await call(['--method', 'prompts/get', ...prompt]), 'claim_next_task', 'builder');
  console.log(`The MCP Inspector called all methods in the ${era} era.`);
}

// `npm run test:inspector`: calls the server with the command line of the MCP Inspector, which also checks that the schemas of
// all tools are portable.
runSuite(inspector, async (program, service, home) => {
  for (const era of ['modern', 'legacy']) await check(program, era, service, home);
});

import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Problem } from '../../infra/problem.ts';
import { runToEnd } from '../processes/python.ts';
import type { Address } from '../processes/service-process.ts';
import { exceptions } from './conformance-exceptions.ts';
import { type NpmProgram, runSuite } from './npm-program.ts';

/** The conformance suite of the protocol. Versions 0.1 do not know the latest revision. */
const suite: NpmProgram = {
  title: 'The conformance suite of MCP',
  name: '@modelcontextprotocol/conformance',
  version: '0.2.0-alpha.12',
  file: 'dist/index.js',
};

const revisions = ['2026-07-28', '2025-11-25'];

/** The exit codes of the suite: all checks succeed, and a check fails. */
const exitCodes = [0, 1];

/**
 * Starts a server that passes requests on with the access token and nothing else, since the suite cannot send headers of
 * its own.
 *
 * @returns its base URL, and a function that stops it
 */
async function startForwarder({ url, token }: Address): Promise<{ url: string; stop: () => void }> {
  const { hostname, port } = new URL(url);
  const server = createServer((received, response) => {
    const { method, url: path, rawHeaders } = received;
    const headers = [...rawHeaders, 'Authorization', `Bearer ${token}`];
    const passed = request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode as number, answer.rawHeaders);
      answer.pipe(response);
    });
    passed.once('error', () => response.destroy());
    received.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

/** Runs all server scenarios of a revision. Returns how many checks succeeded, and the failed ones with their messages. */
async function run(program: string, url: string, revision: string, folder: string) {
  const results = join(folder, revision);
  mkdirSync(results);
  const args = ['server', '--url', `${url}/mcp`, '--suite', 'all', '--spec-version', revision, '-o', results];
  const { code, output } = await runToEnd(process.execPath, [program, ...args]);
  const [, scenarios] = /\((\d+) scenarios\)/.exec(output) ?? [];
  const files = readdirSync(results).map((name) => [name, join(results, name, 'checks.json')] as const);
  const isWhole = files.length === Number(scenarios) && files.every(([, file]) => existsSync(file));
  if (!exitCodes.includes(code as number) || !isWhole)
    throw new Problem(`The suite (${revision}) ended with ${code}, and not all scenarios have a result:\n${output}`);
  let succeeded = 0;
  const failed = new Map<string, string>();
  for (const [name, file] of files) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] as string;
    const checks = JSON.parse(readFileSync(file, 'utf8')) as { id: string; status: string; errorMessage?: string }[];
    for (const { id, status, errorMessage = '' } of checks) {
      if (status === 'SUCCESS') succeeded++;
      if (status === 'FAILURE') failed.set(`${scenario}:${id}`, errorMessage);
    }
  }
  return { succeeded, failed };
}

// `npm run test:conformance`: runs the server scenarios of the conformance suite. A failed check that is no exception is an
// error, and so is an exception that no revision needs.
runSuite(suite, async (program, service, folder) => {
  const { url, stop } = await startForwarder(service);
  const unused = new Set(exceptions.flatMap(({ checks }) => checks));
  const excepted = new Set(unused);
  const problems: string[] = [];
  try {
    for (const revision of revisions) {
      const { succeeded, failed } = await run(program, url, revision, folder);
      for (const [check, message] of failed) {
        unused.delete(check);
        if (!excepted.has(check)) problems.push(`${check} (${revision}) fails: ${message}`);
      }
      console.log(`${succeeded} checks of revision ${revision} succeed, and ${failed.size} fail.`);
    }
  } finally {
    stop();
  }
  problems.push(...[...unused].map((check) => `${check} does not fail; take it out of the exceptions.`));
  if (problems.length > 0) throw new Problem(problems.join('\n'));
});

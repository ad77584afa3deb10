import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { freePort } from '../../servers/free-port.ts';
import { type Bench, createFolder } from '../bench.ts';
import { cpuOfTree } from '../process-stats.ts';
import type { Subject } from '../service.ts';
import type { Peer } from './peer.ts';
import { startProgram } from './programs.ts';

/** A service with a tool for models. */
export type ToolServer = Subject & {
  /** Connects a client, and returns a function that calls the tool. */
  connect: () => Promise<() => Promise<unknown>>;
};

/** Node.js runs this first: the server listens on all interfaces and has no option to change that. */
const onLoopback = `data:text/javascript,${encodeURIComponent(`
  import { Server } from 'node:net';
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, ...rest) { return listen.call(this, port, '127.0.0.1', ...rest); };
`)}`;

const server = '@modelcontextprotocol/server-everything';

/** The example server of the Model Context Protocol, whose tool `echo` does the least. */
export const everything: Peer<ToolServer> = {
  name: 'server-everything',
  needs: [server],
  install: `npm install --prefix .peers ${server}@2026.8.31`,
  async start(bench, paths) {
    const folder = paths[server] as string;
    const port = await freePort();
    const args = ['--import', onLoopback, join(folder, 'dist/index.js'), 'streamableHttp'];
    const env = { PATH: process.env.PATH, PORT: String(port) };
    const cwd = createFolder(bench);
    const pid = await startProgram(bench, process.execPath, { args, env, cwd, ready: /listening on port/ });
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return {
      name: `server-everything ${version}`,
      cpu: () => cpuOfTree(pid),
      connect: () => connectTool(bench, `http://127.0.0.1:${port}/mcp`, { name: 'echo', arguments: { message: 'x' } }),
    };
  },
};

/** Connects a client of revision 2025-11-25, and returns a function that calls a tool. It throws for an error of the tool. */
export async function connectTool(
  { atEnd }: Bench,
  url: string,
  call: { name: string; arguments: Record<string, unknown> },
  headers: Record<string, string> = {},
): Promise<() => Promise<void>> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  atEnd(() => client.close());
  return async () => {
    const { isError, content } = await client.callTool(call);
    if (isError) throw new Error(`${call.name} has failed: ${JSON.stringify(content)}`);
  };
}

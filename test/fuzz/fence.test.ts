import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { startLoopbackServer } from '../servers/loopback.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

const folder = createTemporaryFolder();
const { port, close } = await startLoopbackServer((_, response) => response.end('here'));
afterAll(close);

/** Resolves a name as the sender does, then connects to a name by Node's own lookup, and to addresses. */
const program = `
import { lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { connect } from 'node:net';
const tried = (options) => new Promise((resolve) => {
  const socket = connect({ lookup, ...options }, () => { resolve('connected'); socket.destroy(); });
  socket.once('error', ({ code }) => resolve(code));
});
const said = [await new Resolver().resolve4('example.org').catch(({ code }) => code)];
for (const host of ['example.com', '192.0.2.1', '2001:db8::1']) said.push(await tried({ host, port: 443 }));
for (const host of ['127.0.0.1', 'localhost']) said.push(await tried({ host, port: Number(process.env.PORT), family: 4 }));
console.log(said.join(' '));`;

it('lets a process reach the loopback only, and logs each other host', async () => {
  const noted = join(folder, 'fence.log');
  const fence = new URL('./fence.ts', import.meta.url).href;
  const env = { PATH: process.env.PATH, FUZZ_FENCE: noted, PORT: String(port) };
  const args = [`--import=${fence}`, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout.trim()).toBe('ENOTFOUND ENOTFOUND ECONNREFUSED ECONNREFUSED connected connected');
  expect(readFileSync(noted, 'utf8')).toBe('example.org\nexample.com\n192.0.2.1\n2001:db8::1\n');
});

import { spawn } from 'node:child_process';
import { closeSync, copyFileSync, openSync, readFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { freePort } from '../../infra/local/engine.ts';
import { Problem } from '../../infra/local/problem.ts';

const certificates = join(import.meta.dirname, '..', 'webhooks', 'certificates');
const authority = join(certificates, 'authority.pem');

/** What leads the SDK, the CDK and Node's own `fetch` to the emulator, as its root user. */
type Shell = Readonly<Record<string, string>>;

/** The running emulator. */
export type Emulator = { shell: Shell; ended: Promise<void>; stop: () => Promise<void> };

/**
 * The emulator and the functions that it runs as a group of processes that cannot outlive us: the shell waits on its
 * standard input, a pipe that ends with this process however it ends, and then ends the whole group.
 */
const leashed = `exec 3<&0
"$@" </dev/null & emulator=$!
trap : TERM
(cat <&3 >/dev/null; kill 0) &
while kill -0 $emulator 2>/dev/null; do wait $emulator; done`;

const startedWithinMs = 60_000;
const stoppedWithinMs = 15_000;

/**
 * Starts the emulator on a free port of the loopback, by HTTPS, so that what is only allowed over an encrypted
 * connection is allowed here as it is in AWS.
 *
 * @param programs where it was installed
 * @param folder for all that it writes
 * @param model where the OpenAI chat protocol is spoken, which its Bedrock asks
 * @throws `Problem` where it does not come up
 */
export async function startEmulator(programs: string, folder: string, model: string): Promise<Emulator> {
  const port = String(await freePort());
  // It writes beside its certificate.
  const [certificate, key] = ['valid.pem', 'key.pem'].map((name) => join(folder, name)) as [string, string];
  for (const path of [certificate, key]) copyFileSync(join(certificates, basename(path)), path);
  const log = join(folder, 'emulator.log');
  const output = openSync(log, 'a');
  const child = spawn('/bin/sh', ['-c', leashed, 'sh', join(programs, 'ministack')], {
    detached: true,
    stdio: ['pipe', output, output],
    env: {
      // The first `node` of it runs the functions.
      PATH: [join(process.execPath, '..'), programs, '/usr/bin', '/bin'].join(delimiter),
      HOME: folder,
      TMPDIR: folder,
      GATEWAY_PORT: port,
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      MINISTACK_BEDROCK_PROXY_URL: model,
      // Every call is held to the policies of whoever makes it.
      AUTH: 'true',
      USE_SSL: '1',
      MINISTACK_SSL_CERT: certificate,
      MINISTACK_SSL_KEY: key,
      // It gives its functions these as well: trust in itself, and what no stack can set, receivers on the loopback.
      NODE_EXTRA_CA_CERTS: authority,
      ALLOWED_RECEIVERS: '127.0.0.1:*',
    },
  });
  closeSync(output);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.stdin?.end();
    const inTime = await Promise.race([ended.then(() => true), pause(stoppedWithinMs, false, { ref: false })]);
    if (!inTime) process.kill(-(child.pid as number), 'SIGKILL');
    await ended;
  };
  const endpoint = `https://127.0.0.1:${port}`;
  if (!(await isAnswering(endpoint, () => child.exitCode !== null))) {
    await stop();
    throw new Problem(`The emulator of AWS did not start; see ${log}.`);
  }
  return { shell: shellFor(endpoint, folder), ended, stop };
}

function shellFor(endpoint: string, home: string): Shell {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    CDK_DEFAULT_ACCOUNT: '000000000000',
    CDK_DEFAULT_REGION: 'us-east-1',
    // The CDK looks at the one, Node at the other.
    AWS_CA_BUNDLE: authority,
    NODE_EXTRA_CA_CERTS: authority,
  };
}

async function isAnswering(endpoint: string, hasEnded: () => boolean): Promise<boolean> {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(authority, 'utf8')]);
  const deadline = Date.now() + startedWithinMs;
  while (Date.now() < deadline && !hasEnded()) {
    try {
      const { ok } = await fetch(`${endpoint}/_ministack/ready`, { signal: AbortSignal.timeout(2_000) });
      if (ok) return true;
    } catch {}
    await pause(100);
  }
  return false;
}

import { closeSync, copyFileSync, openSync, readFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Problem } from '../../../infra/problem.ts';
import { freePort } from '../../servers/free-port.ts';
import { type Leashed, startLeashed } from './leash.ts';

const certificates = join(import.meta.dirname, '..', '..', 'sender', 'certificates');
const authority = join(certificates, 'authority.pem');

/** Environment variables with which the SDK, the CDK and `fetch` of Node.js use the emulator, as its root user. */
type Shell = Readonly<Record<string, string>>;

export type Emulator = Pick<Leashed, 'stop'> & { shell: Shell };

const startedWithinMs = 60_000;

/** The longest wait of its Bedrock for the model: the duration of an execution. */
const answeredWithinSeconds = 600;

/**
 * Starts the emulator on a free port of the loopback. It uses HTTPS, because policies of the stack deny unencrypted
 * connections.
 *
 * @param programs the folder of the installed programs
 * @param folder for all that it writes
 * @param model the URL of the OpenAI chat protocol that its Bedrock uses
 * @throws `Problem` if it does not start
 */
export async function startEmulator(programs: string, folder: string, model: string): Promise<Emulator> {
  const port = String(await freePort());
  // It writes beside its certificate.
  const [certificate, key] = ['valid.pem', 'key.pem'].map((name) => join(folder, name)) as [string, string];
  for (const path of [certificate, key]) copyFileSync(join(certificates, basename(path)), path);
  const log = join(folder, 'emulator.log');
  const output = openSync(log, 'a');
  const { stop, hasEnded } = startLeashed([join(programs, 'ministack')], {
    output,
    env: {
      // The first `node` of it runs the functions.
      PATH: [join(process.execPath, '..'), programs, '/usr/bin', '/bin'].join(delimiter),
      HOME: folder,
      TMPDIR: folder,
      GATEWAY_PORT: port,
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      MINISTACK_BEDROCK_PROXY_URL: model,
      MINISTACK_BEDROCK_PROXY_TIMEOUT_SECONDS: String(answeredWithinSeconds),
      // Every call is checked by the policies of its caller.
      AUTH: 'true',
      USE_SSL: '1',
      MINISTACK_SSL_CERT: certificate,
      MINISTACK_SSL_KEY: key,
      // The emulator passes these to its functions too: its certificate, and receivers on the loopback, which no stack allows.
      NODE_EXTRA_CA_CERTS: authority,
      ALLOWED_RECEIVERS: '127.0.0.1:*',
    },
  });
  closeSync(output);
  const endpoint = `https://127.0.0.1:${port}`;
  if (!(await isAnswering(endpoint, hasEnded))) {
    await stop();
    throw new Problem(`The emulator of AWS did not start; see ${log}.`);
  }
  return { shell: shellFor(endpoint, folder), stop };
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

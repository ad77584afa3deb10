import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Client, createClient } from '../lib/client/client.ts';
import { verifyWebhook } from '../lib/client/verify-webhook.ts';

/** A service to check: its URL, an access token, and a receiver of the operator with the secret that it verifies. */
type Checked = { url: string; token: string; receiver?: { url: string; secret: string } | undefined };

/** The receiver of the checked delivery: its URL, its secret, the expected status, and what the delivery proves. */
type Receiver = { url: string; secret: string; status: (status: number) => boolean; proves: string; close: () => void };

/**
 * Checks a running service: its health, an authenticated read, and a signed delivery. The receiver of the delivery is
 *
 * - for a service on this machine, a server of this process, which verifies the signature;
 * - otherwise the receiver of the operator, which must answer 2xx;
 * - without one, the service itself. It answers 405, which proves that a signed delivery was sent and arrived.
 *
 * @param say gets a line for each passed check
 * @throws Error that says which check failed, and why
 */
export async function checkService({ url, token, receiver: own }: Checked, say: (line: string) => void): Promise<void> {
  const base = url.replace(/\/$/, '');
  const { status } = await fetch(`${base}/health`, { signal: AbortSignal.timeout(30_000) });
  if (status !== 200) throw new Error(`GET ${base}/health responds ${status} instead of 200.`);
  say('The health check responds 200.');
  const client = createClient({ url: base, token });
  const { data: me } = await client.getMe();
  say(`The access token is that of the organization ${me.organization}.`);
  const receiver = await receiverFor(base, own);
  try {
    await checkDelivery(client, receiver);
  } finally {
    receiver.close();
  }
  say(receiver.proves);
}

async function checkDelivery(client: Client, { url, secret, status }: Receiver): Promise<void> {
  const { data: webhook } = await client.registerWebhook({ body: { url, events: ['task.created'], secret } });
  try {
    const { data: sent } = await client.testWebhook({ params: { id: webhook.id }, body: { event: 'task.created' } });
    if (!status(sent.httpStatus))
      throw new Error(
        `The delivery to ${url} got the status ${sent.httpStatus}: ${sent.error ?? (sent.responseBody || 'the receiver did not accept it')}`,
      );
  } finally {
    await client.deleteWebhook({ params: { id: webhook.id } });
  }
}

async function receiverFor(base: string, own: Checked['receiver']): Promise<Receiver> {
  const nothing = () => {};
  if (own)
    return {
      ...own,
      status: (status) => status >= 200 && status < 300,
      proves: `${own.url} accepted a signed delivery.`,
      close: nothing,
    };
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  if (['127.0.0.1', 'localhost', '[::1]'].includes(new URL(base).hostname)) return startReceiver(secret);
  return {
    url: `${base}/health`,
    secret,
    status: (status) => status === 405,
    proves: 'A signed delivery was sent and arrived. No receiver has verified its signature; see RECEIVER_URL.',
    close: nothing,
  };
}

/** Starts a receiver on this machine that accepts deliveries with a correct signature only. */
async function startReceiver(secret: string): Promise<Receiver> {
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await Array.fromAsync(incoming));
    try {
      await verifyWebhook({ body, headers: incoming.headers, secret });
      outgoing.writeHead(204).end();
    } catch (error) {
      outgoing.writeHead(401).end((error as Error).message);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    secret,
    status: (status) => status === 204,
    proves: 'A receiver on this machine verified the signature of a delivery.',
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The URL and the token of the service on this machine with its default settings. */
const localUrl = 'http://127.0.0.1:3000';

/** `npm run check:service`: checks the service that `CREWBOARD_URL` names, or the one on this machine. */
async function main({
  CREWBOARD_URL,
  CREWBOARD_TOKEN,
  RECEIVER_URL,
  RECEIVER_SECRET,
  CREWBOARD_DATA,
}: NodeJS.ProcessEnv) {
  const url = CREWBOARD_URL || localUrl;
  const token =
    CREWBOARD_TOKEN || (url === localUrl && readFileSync(join(CREWBOARD_DATA || '.crewboard', 'token'), 'utf8'));
  if (!token) throw new Error(`There is no access token for ${url}; set CREWBOARD_TOKEN.`);
  if (Boolean(RECEIVER_URL) !== Boolean(RECEIVER_SECRET))
    throw new Error('Set both RECEIVER_URL and RECEIVER_SECRET, or neither.');
  const receiver = RECEIVER_URL && RECEIVER_SECRET ? { url: RECEIVER_URL, secret: RECEIVER_SECRET } : undefined;
  await checkService({ url, token: token.trim(), receiver }, (line) => console.log(line));
}

if (import.meta.main)
  try {
    await main(process.env);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }

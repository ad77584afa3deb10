import { lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { type Allowed, faultOfUrl, portOf } from './receivers.ts';

/** What is posted to a receiver. */
export type Post = { url: string; headers: Record<string, string>; body: string };

/** How an attempt ended. `error` is there when it failed, in words that name nothing of ours. */
export type Outcome = {
  /** 0 when no answer came. */
  httpStatus: number;
  durationMs: number;
  /** The first 16 KiB of the answer's body. */
  responseBody: string;
  error?: string;
};

/** Posts to a receiver and tells how that ended; it never throws. */
export type Sender = (post: Post) => Promise<Outcome>;

const responseLimit = 16 * 1024;

/** Connect, headers and body together: one signal over all of it, for a body's own time-out does not stop a drip. */
const attemptMs = 10_000;

class Forbidden extends Error {}

/**
 * Opens the guarded sender: the one place from which anything is sent to an address that a caller chose. It follows no
 * redirect, checks literal addresses before and resolved ones in the connection's own look-up, so that the address
 * that was checked is the one that is dialled, and ends at the deadline whatever the receiver does.
 */
export function openSender(allowed: Allowed, timeoutMs: number = attemptMs): Sender {
  return async ({ url: text, headers, body }) => {
    const startedAt = performance.now();
    const url = new URL(text);
    const signal = AbortSignal.timeout(timeoutMs);
    // A connection of its own for each attempt: one kept from before a container slept may be dead, and the
    // receiver would be blamed for it.
    const lookup = allowed(url.hostname, portOf(url)) ? undefined : publicOnly;
    const dispatcher = new Agent({ pipelining: 0, connect: { timeout: timeoutMs, ...(lookup && { lookup }) } });
    const ended = (end: Omit<Outcome, 'durationMs'>): Outcome => ({
      ...end,
      durationMs: Math.round(performance.now() - startedAt),
    });
    // undici leaves a request alone while it is connecting, whatever its signal says.
    signal.addEventListener('abort', () => void dispatcher.destroy(signal.reason));
    try {
      const fault = faultOfUrl(url, allowed);
      if (fault) throw new Forbidden(fault.message);
      const answer = await request(url, { method: 'POST', headers, body, signal, dispatcher });
      const responseBody = await readStart(answer.body);
      const httpStatus = answer.statusCode;
      const succeeded = httpStatus >= 200 && httpStatus < 300;
      return ended({ httpStatus, responseBody, ...(!succeeded && { error: `The receiver answered ${httpStatus}.` }) });
    } catch (error) {
      return ended({ httpStatus: 0, responseBody: '', error: signal.aborted ? late(timeoutMs) : wordsFor(error) });
    } finally {
      await dispatcher.destroy();
    }
  };
}

/** Looks a name up and refuses it if any of its addresses is not public: the one dialled is one of these. */
const publicOnly: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '');
    const forbidden = addresses.find(({ address }) => !isPublicAddress(address));
    if (forbidden) return callback(new Forbidden('the name resolves to an address that is not public'), '');
    return options.all
      ? callback(null, addresses)
      : callback(null, addresses[0]?.address as string, addresses[0]?.family);
  });
};

/** The start of a body; what goes wrong with the rest of it does not matter, the answer came with its headers. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= responseLimit) break;
    }
  } catch {
    // The deadline, or a receiver that broke off.
  }
  // A decoder that waits for more leaves out the character that the cut went through.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return decoder.decode(Buffer.concat(chunks).subarray(0, responseLimit), { stream: length > responseLimit });
}

const late = (timeoutMs: number) => `No answer within ${timeoutMs / 1000} s.`;

/** What a failure to get an answer is called in the history. */
function wordsFor(error: unknown): string {
  if (error instanceof Forbidden) return `Not sent: ${error.message}.`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'The name of the receiver could not be resolved.';
  if (code === 'ECONNREFUSED') return 'The receiver refused the connection.';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'The receiver could not be reached in time.';
  if (/CERT|TLS|SSL|ALTNAME|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return `The receiver's TLS failed: ${code}.`;
  return `The connection failed${code && `: ${code}`}.`;
}

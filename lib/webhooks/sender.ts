import { type Alarm, timer } from './alarm.ts';
import { postTo } from './connection.ts';
import { sentenceFor } from './failures.ts';
import { dnsResolve, Forbidden, lookupAny, lookupPublic, type Resolve } from './lookup.ts';
import { type Allowed, faultOfUrl, portOf } from './receivers.ts';

/** What is posted to a receiver. */
export type Post = { url: string; headers: Record<string, string>; body: string };

/** How an attempt ended. `error` is there when it failed, in words that name nothing of ours. */
export type Outcome = {
  /** 0 when no answer came. */
  httpStatus: number;
  durationMs: number;
  /** Whether the attempt lasted to its deadline: a 2xx whose body drips is a success and holds up a worker as long. */
  timedOut: boolean;
  /** The start of the answer's body: at most 16 KiB of UTF-8. */
  responseBody: string;
  error?: string;
};

/** Posts to a receiver and tells how that ended; it never throws. */
export type Sender = (post: Post) => Promise<Outcome>;

/** What is kept of an answer's body, in bytes. */
export const responseLimit = 16 * 1024;

/**
 * How long an attempt may take, in milliseconds: connect, headers and body together. One clock over all of it, for a
 * body's own time-out does not stop a drip.
 */
export const attemptMs = 10_000;

/**
 * Opens the guarded sender: the one place from which anything is sent to an address that a caller chose. It follows no
 * redirect, checks literal addresses before and resolved ones in the connection's own look-up, so that the address
 * that was checked is the one that is dialled, and ends at the deadline whatever the receiver does.
 */
export function openSender(
  allowed: Allowed,
  { alarm = timer, resolve = dnsResolve() }: { alarm?: Alarm; resolve?: Resolve } = {},
): Sender {
  return async ({ url: text, headers, body }) => {
    const startedAt = performance.now();
    let timedOut = false;
    const ended = (end: Pick<Outcome, 'httpStatus' | 'responseBody' | 'error'>): Outcome => ({
      ...end,
      timedOut,
      durationMs: Math.round(performance.now() - startedAt),
    });
    const failed = (error: unknown) => ended({ httpStatus: 0, responseBody: '', error: sentenceFor(error) });

    const url = URL.parse(text);
    if (!url) return failed(new Forbidden('url must be a URL'));
    const fault = faultOfUrl(url, allowed);
    if (fault) return failed(new Forbidden(fault.message));

    // A connection of its own for each attempt: one kept from before a container slept may be dead, and the
    // receiver would be blamed for it.
    const open = allowed(url.hostname, portOf(url));
    const over = new AbortController();
    const lookup = (open ? lookupAny : lookupPublic)(resolve, over.signal);
    const stopAlarm = alarm(() => {
      timedOut = true;
      over.abort(null);
    }, attemptMs);
    try {
      const answer = await postTo(url, { headers, body }, lookup, over.signal);
      const responseBody = await readStart(answer);
      const httpStatus = answer.statusCode as number;
      const succeeded = httpStatus >= 200 && httpStatus < 300;
      return ended({ httpStatus, responseBody, ...(!succeeded && { error: `The receiver answered ${httpStatus}.` }) });
    } catch (error) {
      if (!timedOut) return failed(error);
      return ended({ httpStatus: 0, responseBody: '', error: `No answer within ${attemptMs / 1000} s.` });
    } finally {
      stopAlarm();
      // Without a reason a DOMException with a stack is made, a twentieth of the attempt's processor time.
      over.abort(null);
    }
  };
}

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
  return startOf(decoder.decode(Buffer.concat(chunks), { stream: length >= responseLimit }));
}

/** What of a text fits the limit: a byte that is no UTF-8 was decoded to a character of three. */
function startOf(text: string): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(responseLimit)).read);
}

import type { AllowedReceivers } from './allowed-receivers.ts';
import { postTo } from './connection.ts';
import { sentenceFor } from './failures.ts';
import { createResolver, Forbidden, lookupAny, lookupPublic, type Resolve } from './lookup.ts';
import { faultOfUrl, portOf } from './receivers.ts';
import type { StartTimer } from './timer.ts';

/** A request to a receiver. */
export type Post = { url: string; headers: Record<string, string>; body: string };

/** The result of an attempt. A failed attempt has an `error`, whose text names nothing internal. */
export type Outcome = {
  /** 0 without a response. */
  httpStatus: number;
  durationMs: number;
  /** Whether the attempt lasted until its deadline. It may have succeeded: a slow body with a 2xx status takes as long. */
  timedOut: boolean;
  /** The start of the response body: at most 16 KiB of UTF-8. */
  responseBody: string;
  error?: string;
};

/** Posts to a receiver and returns the outcome; it never throws. */
export type Sender = (post: Post) => Promise<Outcome>;

/** The part of a context that sending to receivers needs. */
export type SenderContext = {
  allowedReceivers: AllowedReceivers;
  startTimer: StartTimer;
  /** Resolves the names of receivers; `undefined`: the DNS servers of the system do. */
  resolve?: Resolve | undefined;
  /** Replaces the guarded sender in tests. */
  sender?: Sender | undefined;
};

/** The maximum number of bytes of a response body that are kept. */
export const responseLimit = 16 * 1024;

/**
 * The deadline of an attempt, in milliseconds: connection, headers and body together. A timeout of the body alone does not
 * stop a receiver that sends it byte by byte.
 */
export const attemptMs = 10_000;

/**
 * Posts to a receiver. No other function sends anything to an address that a caller chose. It follows no redirect, checks
 * literal addresses first and resolved addresses in the look-up of the connection itself, so that the checked address is
 * the one that is dialled, and ends at the deadline.
 *
 * @returns the outcome; the function never throws
 */
export async function sendToReceiver(context: SenderContext, post: Post): Promise<Outcome> {
  const { allowedReceivers, startTimer, resolve = createResolver(), sender } = context;
  if (sender) return sender(post);
  const startedAt = performance.now();
  let timedOut = false;
  const ended = (end: Pick<Outcome, 'httpStatus' | 'responseBody' | 'error'>): Outcome => ({
    ...end,
    timedOut,
    durationMs: Math.round(performance.now() - startedAt),
  });
  const failed = (error: unknown) => ended({ httpStatus: 0, responseBody: '', error: sentenceFor(error) });

  const url = URL.parse(post.url);
  if (!url) return failed(new Forbidden('url must be a URL'));
  const fault = faultOfUrl(url, allowedReceivers);
  if (fault) return failed(new Forbidden(fault.message));

  // Each attempt has a connection of its own: one from before a container was frozen may be dead, and the receiver would
  // be blamed for it.
  const isAllowed = allowedReceivers(url.hostname, portOf(url));
  const controller = new AbortController();
  const lookup = (isAllowed ? lookupAny : lookupPublic)(resolve, controller.signal);
  const stopTimer = startTimer(() => {
    timedOut = true;
    controller.abort(null);
  }, attemptMs);
  try {
    const response = await postTo(url, post, lookup, controller.signal);
    const responseBody = await readStart(response);
    const httpStatus = response.statusCode as number;
    const succeeded = httpStatus >= 200 && httpStatus < 300;
    return ended({ httpStatus, responseBody, ...(!succeeded && { error: `The receiver answered ${httpStatus}.` }) });
  } catch (error) {
    if (!timedOut) return failed(error);
    return ended({ httpStatus: 0, responseBody: '', error: `No answer within ${attemptMs / 1000} s.` });
  } finally {
    stopTimer();
    // `null` avoids a DOMException with a stack, which takes 5 % of the attempt's CPU time.
    controller.abort(null);
  }
}

/** Returns the start of a body. A failure to read the rest does not matter: the headers are the response. */
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
    // The deadline has passed, or the receiver closed the connection.
  }
  // A streaming decoder leaves out a character that the limit cuts.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return startOf(decoder.decode(Buffer.concat(chunks), { stream: length >= responseLimit }));
}

/** Returns the part of a text that fits the limit: the decoder turns an invalid byte into a character of three bytes. */
function startOf(text: string): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(responseLimit)).read);
}

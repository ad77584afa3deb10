import type { Socket } from 'node:net';
import type { AllowedReceivers } from '../settings/allowed-receivers.ts';
import { dialReceiver, notingLookup, postTo, type RequestSteps } from './connection.ts';
import { sentenceFor } from './failures.ts';
import {
  type Connection,
  isShared,
  type KeptConnections,
  leaveConnection,
  takeConnection,
} from './kept-connections.ts';
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
  /** Whether the body did not end there, or its end was not received. */
  responseCut?: boolean | undefined;
  /** The names and values of the response headers, in their order; at most 64 KiB. Absent without a response. */
  responseHeaders?: [name: string, value: string][];
  /** The address of the connection, new or kept; absent if there was none. */
  address?: string | undefined;
  /** How long each phase took that was completed. */
  phases?: Phases;
  /** Whether the receiver was asked to keep the connection for the next attempt. */
  keepAlive?: boolean;
  error?: string;
};

/** The durations of the phases of a request, in milliseconds. The last one ends with the first byte of the response. */
type Phases = { dns?: number; connect?: number; tls?: number; firstByte?: number };

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
 * literal addresses first and resolved addresses in the look-up of the connection itself, so that it connects to the
 * checked address, and ends at the deadline. A kept connection is only used if its address is one that the look-up of
 * this attempt finds. If it breaks before the first byte of a response, the request is sent once more on a new one: the
 * receiver may have closed it before the request arrived.
 *
 * @param connections the connections that attempts of this webhook leave to one another; without them, the connection is new
 *   and is closed at the end
 * @returns the outcome; the function never throws
 */
export async function sendToReceiver(
  context: SenderContext,
  post: Post,
  connections?: KeptConnections,
): Promise<Outcome> {
  const { allowedReceivers, startTimer, resolve = createResolver(), sender } = context;
  if (sender) return sender(post);
  const startedAt = performance.now();
  let timedOut = false;
  const steps: RequestSteps = {};
  const keepAlive = connections !== undefined && isShared(connections);
  const ended = (end: Omit<Outcome, 'timedOut' | 'durationMs'>): Outcome => ({
    ...end,
    ...(steps.address !== undefined && { address: steps.address }),
    phases: phasesOf(steps, startedAt),
    ...(keepAlive && { keepAlive }),
    timedOut,
    durationMs: Math.round(performance.now() - startedAt),
  });
  const failed = (error: unknown) => ended({ httpStatus: 0, responseBody: '', error: sentenceFor(error) });

  // Not URL.parse, which the oldest Node.js of the command line does not have.
  const url = URL.canParse(post.url) ? new URL(post.url) : undefined;
  if (!url) return failed(new Forbidden('url must be a URL'));
  const fault = faultOfUrl(url, allowedReceivers);
  if (fault) return failed(new Forbidden(fault.message));

  const isAllowed = allowedReceivers(url.hostname, portOf(url));
  const controller = new AbortController();
  const { signal } = controller;
  const lookup = (isAllowed ? lookupAny : lookupPublic)(resolve, signal);
  const stopTimer = startTimer(() => {
    timedOut = true;
    controller.abort(null);
  }, attemptMs);
  const postBy = (socket: Socket) => postTo(url, post, { socket, signal, steps, keepAlive });
  const postByNew = async () => {
    // The look-up for a kept connection, or a request on it, may have lasted until the deadline.
    signal.throwIfAborted();
    return postBy(dialReceiver(url, lookup, steps));
  };
  const postByKept = (socket: Socket) =>
    postBy(socket).catch((error) => {
      if (steps.firstByteAt !== undefined) throw error;
      return postByNew();
    });
  let free: Connection | undefined;
  try {
    const kept = connections && (await takeConnection(connections, url, notingLookup(lookup, steps), signal));
    if (kept?.socket.remoteAddress) steps.address = kept.socket.remoteAddress;
    const { response, release } = await (kept ? postByKept(kept.socket) : postByNew());
    const { text: responseBody, cut: responseCut } = await readStart(response);
    const socket = keepAlive && !responseCut ? await release() : undefined;
    if (socket) free = { socket, openedAt: socket === kept?.socket ? kept.openedAt : startedAt };
    const httpStatus = response.statusCode as number;
    const succeeded = httpStatus >= 200 && httpStatus < 300;
    const received = { httpStatus, responseBody, responseCut, responseHeaders: headersOf(response.rawHeaders) };
    return ended({ ...received, ...(!succeeded && { error: `The receiver answered ${httpStatus}.` }) });
  } catch (error) {
    if (!timedOut) return failed(error);
    return ended({ httpStatus: 0, responseBody: '', error: `No answer within ${attemptMs / 1000} s.` });
  } finally {
    stopTimer();
    if (free && connections && isShared(connections)) leaveConnection(connections, url, free, startTimer);
    // `null` avoids a DOMException with a stack, which takes 5 % of the attempt's CPU time.
    else controller.abort(null);
  }
}

/** Returns the durations of the completed phases, so that their sum is not above the duration of the attempt. */
function phasesOf({ resolvedAt, connectedAt, securedAt, firstByteAt }: RequestSteps, startedAt: number): Phases {
  const ends = { dns: resolvedAt, connect: connectedAt, tls: securedAt, firstByte: firstByteAt };
  const phases: Phases = {};
  let before = 0;
  for (const [phase, endedAt] of Object.entries(ends)) {
    if (endedAt === undefined) continue;
    const end = Math.round(endedAt - startedAt);
    phases[phase as keyof Phases] = end - before;
    before = end;
  }
  return phases;
}

/**
 * Returns the headers of a list in which each value follows its name. Control characters in values, which the lenient
 * parser lets through, become spaces: a terminal may show the values. The parser refuses them in names.
 */
function headersOf(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, nth) => [
    raw[2 * nth] as string,
    (raw[2 * nth + 1] as string).replaceAll(/\p{Cc}+/gu, ' '),
  ]);
}

/**
 * Returns the start of a body, and whether it is cut. A failure to read the rest does not matter: the headers are the
 * response.
 */
async function readStart(body: AsyncIterable<Buffer>): Promise<{ text: string; cut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  let cut = true;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= responseLimit) break;
    }
    cut = length > responseLimit;
  } catch {
    // The deadline has passed, or the receiver closed the connection.
  }
  if (length === 0) return { text: '', cut };
  // A streaming decoder leaves out a character that the limit cuts.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const text = decoder.decode(Buffer.concat(chunks), { stream: length >= responseLimit });
  return { text: firstBytes(text, responseLimit), cut };
}

/**
 * Returns the start of a text that has at most `limit` bytes of UTF-8. The decoder turns an invalid byte into a character
 * of three bytes, so a text can be longer than the bytes it is made from.
 */
export function firstBytes(text: string, limit: number): string {
  // A code unit has at most three bytes: most texts need no memory of the size of the limit.
  if (text.length * 3 <= limit) return text;
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(limit)).read);
}

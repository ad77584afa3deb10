import { addAbortListener } from 'node:events';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { hostOf } from './receivers.ts';
import type { StartTimer } from './timer.ts';

/**
 * How long a connection may be idle, in milliseconds. The next attempt of a batch begins within that time. It is short because
 * a receiver that serves one connection at a time lets all others wait while one is idle, and because receivers close idle
 * connections after seconds.
 */
export const idleMs = 100;

/**
 * For how long after its opening a connection is left to other attempts, in milliseconds. On one machine attempts can follow one
 * another without a break; the certificate, and the server behind a load balancer, are then new after that time.
 */
const keptMs = 5_000;

/** The connections to the receiver of one webhook that its attempts in this process leave to one another. */
export type KeptConnections = {
  /** The number of attempts in progress, from their message on. */
  attempts: number;
  idle: IdleConnection[];
  /** Whether a connection may be idle after the last attempt. */
  outlastAttempts: boolean;
  /** Removes the entry of the webhook if it has neither attempts nor connections. */
  removeUnused: () => void;
};

/** A connection, and when its attempt began, in milliseconds of `performance.now()`. */
export type Connection = { socket: Socket; openedAt: number };

/** A connection that carries no request. */
type IdleConnection = Connection & {
  /** The protocol, the host and the port of the URL for which it was opened. */
  origin: string;
  /** Ends the watch over the idle connection. */
  stopWatching: () => void;
};

/** The kept connections of this process, by the id of their webhook. */
export type ConnectionsOfWebhooks = Map<string, KeptConnections>;

/**
 * Begins the use of the connections of a webhook by an attempt of it, and returns them; `endSharing` must follow.
 *
 * @param outlastAttempts whether the last attempt leaves its connection to one that begins within `idleMs`, for a process that
 *   nothing freezes in between
 */
export function shareConnections(
  all: ConnectionsOfWebhooks,
  webhookId: string,
  outlastAttempts = false,
): KeptConnections {
  const connections = all.get(webhookId) ?? createConnections(all, webhookId, outlastAttempts);
  connections.attempts += 1;
  return connections;
}

function createConnections(all: ConnectionsOfWebhooks, webhookId: string, outlastAttempts: boolean): KeptConnections {
  const removeUnused = () => {
    if (connections.attempts === 0 && connections.idle.length === 0 && all.get(webhookId) === connections)
      all.delete(webhookId);
  };
  const connections: KeptConnections = { attempts: 0, idle: [], outlastAttempts, removeUnused };
  all.set(webhookId, connections);
  return connections;
}

/**
 * Ends the use of the connections of a webhook. Unless they outlast the attempts, the last attempt closes them, so none remains
 * at the end of a batch.
 */
export function endSharing(all: ConnectionsOfWebhooks, webhookId: string): void {
  const connections = all.get(webhookId);
  if (!connections) return;
  connections.attempts -= 1;
  if (connections.attempts > 0) return;
  if (!connections.outlastAttempts) for (const { socket } of connections.idle.splice(0)) socket.destroy();
  connections.removeUnused();
}

/** Returns whether an attempt leaves its connection: others are in progress, or the connection may outlast the attempts. */
export const isShared = ({ attempts, outlastAttempts }: KeptConnections) => outlastAttempts || attempts > 1;

/**
 * Leaves the connection of an attempt to another one. It is destroyed after `idleMs`, and when the receiver sends something
 * or ends it; at once if it was opened more than `keptMs` ago.
 */
export function leaveConnection(
  { idle, removeUnused }: KeptConnections,
  { origin }: URL,
  { socket, openedAt }: Connection,
  startTimer: StartTimer,
): void {
  const destroy = () => void socket.destroy();
  if (performance.now() - openedAt > keptMs) {
    destroy();
    return;
  }
  const stopTimer = startTimer(destroy, idleMs);
  const stopWatching = () => {
    stopTimer();
    socket.off('data', destroy).off('end', destroy).off('close', remove);
  };
  const connection = { socket, openedAt, origin, stopWatching };
  const remove = () => {
    stopTimer();
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    removeUnused();
  };
  socket.on('data', destroy).on('end', destroy).on('close', remove).resume();
  idle.push(connection);
}

/**
 * Takes the connection that was left last for a request to a URL. Closes it if it must not be used: it was opened for another
 * origin, or the look-up does not find its address now.
 *
 * @param lookup resolves the host name, and rejects forbidden addresses; it is not called for literal addresses
 * @param signal ends the look-up
 * @returns `undefined` if there is none, or it is closed
 */
export async function takeConnection(
  { idle }: KeptConnections,
  url: URL,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<Connection | undefined> {
  const taken = idle.pop();
  if (!taken) return undefined;
  const { socket, openedAt, origin, stopWatching } = taken;
  const isUsable = origin === url.origin && (await isAddressOf(socket.remoteAddress, url, lookup, signal));
  stopWatching();
  if (!isUsable) socket.destroy();
  return socket.destroyed ? undefined : { socket, openedAt };
}

/** Returns whether an address is the literal address of a URL, or one of the addresses that its host name has now. */
async function isAddressOf(
  address: string | undefined,
  url: URL,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<boolean> {
  const host = hostOf(url);
  // A literal address is checked with the URL.
  if (isIP(host) > 0) return true;
  return new Promise((resolve) => {
    // A look-up that is aborted may never end.
    addAbortListener(signal, () => resolve(false));
    lookup(host, { all: true }, (error, found) => {
      resolve(!error && Array.isArray(found) && found.some((one) => one.address === address));
    });
  });
}

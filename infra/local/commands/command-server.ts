import { createServer, type Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { type CommandMessage, type CommandRequest, messageLine, readRequest, type Terminal } from './messages.ts';

/** Runs a command of operators. Prints its errors, and sets its exit code. Throws what its terminal throws. */
export type RunCommand = (request: CommandRequest, terminal: Terminal) => Promise<void>;

/** The longest request, in characters. */
const longestRequest = 1_000_000;

/** How long a client may take to send its request, in milliseconds. */
const requestWithinMs = 10_000;

/** The most output that waits for a client in memory, in bytes. A client that reads too slowly is disconnected. */
const mostUnsent = 64 * 1024 * 1024;

/** How long a stop waits for commands between two steps, in milliseconds. */
const stopWithinMs = 12_000;

const notUnderstood =
  'The service does not understand this command; it may run another version. Restart it, and run the command again.';

const stopping =
  'The service stops, and has ended this command between two steps. Run it again when the service has started.';

/** The limits of a server; see the constants. */
type Limits = { longestRequest: number; requestWithinMs: number; mostUnsent: number; stopWithinMs: number };

/**
 * Listens for commands of operators at a Unix socket or a named pipe, and runs them. If a client disconnects, its command
 * ends at its next report or line of output.
 *
 * @returns a function that stops listening, and ends the running commands with a sentence
 */
export async function startCommandServer(
  address: string,
  run: RunCommand,
  limits: Limits = { longestRequest, requestWithinMs, mostUnsent, stopWithinMs },
): Promise<() => Promise<void>> {
  const calls = new Set<Call>();
  const server = createServer((socket) => {
    const call: Call = { socket, mostUnsent: limits.mostUnsent, ended: false, exitCode: 0, done: undefined };
    calls.add(call);
    // An error is followed by the end of the connection.
    socket.on('error', () => {});
    socket.once('close', () => {
      call.ended = true;
      calls.delete(call);
    });
    onRequest(socket, limits, (line) => {
      const request = line === undefined ? undefined : readRequest(line);
      if (request) call.done = runCall(call, run, request);
      else endCall(call, 1, notUnderstood);
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(address, resolve));
  return async () => {
    server.close();
    const open = [...calls];
    for (const call of open) {
      if (call.done) endCall(call, 1, stopping);
      else call.socket.destroy();
    }
    await Promise.race([
      Promise.all(open.map(({ done }) => done)),
      pause(limits.stopWithinMs, undefined, { ref: false }),
    ]);
    for (const { socket } of open) socket.destroy();
  };
}

/** A connected client. */
type Call = {
  readonly socket: Socket;
  readonly mostUnsent: number;
  /** Whether the client gets nothing more. */
  ended: boolean;
  exitCode: number;
  /** Resolves when its command has ended and the client has been sent the end; `undefined` before the request. */
  done: Promise<void> | undefined;
};

async function runCall(call: Call, run: RunCommand, request: CommandRequest): Promise<void> {
  try {
    await run(request, terminalOf(call));
    endCall(call, call.exitCode);
  } catch (error) {
    // If the client has gone, it is the error that has ended the command.
    endCall(call, 1, inspect(error));
  }
  await finished(call.socket, { readable: false }).catch(() => {});
}

/** Calls a function with the first line that a client sends; with `undefined` if the line is too long. */
function onRequest(socket: Socket, limits: Limits, act: (line: string | undefined) => void): void {
  let text: string | undefined = '';
  socket.setTimeout(limits.requestWithinMs, () => socket.destroy());
  // All is read, also what follows the request: only a socket that is read notices that the client disconnects.
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    if (text === undefined) return;
    text += chunk;
    const end = text.indexOf('\n');
    if (end === -1 && text.length <= limits.longestRequest) return;
    const line = end === -1 || end > limits.longestRequest ? undefined : text.slice(0, end);
    text = undefined;
    socket.setTimeout(0);
    act(line);
  });
}

function terminalOf(call: Call): Terminal {
  const sendOrEnd = (message: CommandMessage) => {
    if (call.ended) throw new Error('The operator has ended the command.');
    send(call, message);
  };
  return {
    print: (text) => sendOrEnd({ print: text }),
    printError: (text) => sendOrEnd({ printError: text }),
    startProgress: (first) => {
      sendOrEnd({ progress: first });
      return { report: (text) => sendOrEnd({ progress: text }), end: () => send(call, { progress: null }) };
    },
    exit: (code) => {
      call.exitCode = code;
    },
  };
}

function send(call: Call, message: CommandMessage): void {
  if (call.ended) return;
  call.socket.write(messageLine(message));
  if (call.socket.writableLength > call.mostUnsent) call.socket.destroy();
}

/** Sends the end of a call, after an error if there is one. */
function endCall(call: Call, code: number, error?: string): void {
  if (error !== undefined) send(call, { printError: error });
  send(call, { exit: code });
  call.ended = true;
  call.socket.end();
}

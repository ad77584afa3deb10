import { connect, type Socket } from 'node:net';
import { Problem } from '../../problem.ts';
import { isFolderOpen } from '../data-folder.ts';
import { readRunning } from '../running.ts';
import {
  type CommandMessage,
  type CommandRequest,
  messageLine,
  type ShownProgress,
  type Terminal,
} from './messages.ts';

/**
 * Connects to the service that runs on a data folder, to send it a command.
 *
 * @returns `undefined` if no service accepts commands there
 */
export async function connectToService(dataFolder: string): Promise<Socket | undefined> {
  // Without a lock a former service has left the address, where another program may listen now.
  const address = isFolderOpen(dataFolder) ? readRunning(dataFolder)?.commands : undefined;
  if (address === undefined) return undefined;
  return new Promise((resolve) => {
    const socket = connect(address, () => resolve(socket.off('error', fail)));
    const fail = () => resolve(undefined);
    socket.once('error', fail);
  });
}

/**
 * Runs a command in a service, and prints on a terminal what it prints.
 *
 * @throws `Problem` if the service ends before the command
 */
export async function runInService(socket: Socket, request: CommandRequest, terminal: Terminal): Promise<void> {
  let progress: ShownProgress | undefined;
  const endProgress = () => {
    progress?.end();
    progress = undefined;
  };
  const show = (message: CommandMessage) => {
    if (!('progress' in message)) endProgress();
    if ('print' in message) terminal.print(message.print);
    else if ('printError' in message) terminal.printError(message.printError);
    else if ('exit' in message) terminal.exit(message.exit);
    else if (message.progress === null) endProgress();
    else if (progress) progress.report(message.progress);
    else progress = terminal.startProgress(message.progress);
  };
  try {
    socket.write(messageLine(request));
    for await (const message of messagesOf(socket)) {
      show(message);
      if ('exit' in message) return;
    }
  } finally {
    endProgress();
    socket.destroy();
  }
  throw new Problem(
    'The service has disconnected before the end of this command: it has ended, or its output was read too slowly. Look at what the command has done before you run it again.',
  );
}

/** Reads the messages of a service until it disconnects. */
async function* messagesOf(socket: Socket): AsyncGenerator<CommandMessage> {
  let parts: string[] = [];
  try {
    for await (const chunk of socket.setEncoding('utf8') as AsyncIterable<string>) {
      const [first = '', ...others] = chunk.split('\n');
      parts.push(first);
      for (const other of others) {
        yield JSON.parse(parts.join('')) as CommandMessage;
        parts = [other];
      }
    }
  } catch (error) {
    // A service that was killed resets the connection.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

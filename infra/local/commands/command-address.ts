import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Problem } from '../../problem.ts';
import { type DataFolder, dataFiles, dataPath, deleteData } from '../data-folder.ts';
import { readRunning } from '../running.ts';
import { type RunCommand, startCommandServer } from './command-server.ts';

/** Where a service listens for commands of operators. `stop` ends that. */
export type CommandListener = { address: string; stop: () => Promise<void> };

/**
 * Listens for commands of operators: at a Unix socket in the data folder, or, if its path is too long (macOS has 104 bytes for
 * it, Linux 108) or its file system has no sockets, in a new private folder for temporary files. On Windows it is a named pipe
 * that cannot be guessed.
 *
 * @throws `Problem` if neither is possible
 */
export async function listenForCommands(data: DataFolder, run: RunCommand): Promise<CommandListener> {
  if (process.platform === 'win32') {
    const address = `\\\\.\\pipe\\crewboard-${randomBytes(16).toString('hex')}`;
    return { address, stop: await startCommandServer(address, run) };
  }
  return (
    (await listenAt(data, dataPath(data, dataFiles.commands), run).catch(() => undefined)) ??
    (await listenAt(data, join(mkdtempSync(join(tmpdir(), 'crewboard-')), dataFiles.commands), run))
  );
}

async function listenAt(data: DataFolder, address: string, run: RunCommand): Promise<CommandListener> {
  try {
    const stop = await startCommandServer(address, run);
    chmodSync(address, 0o600);
    return {
      address,
      stop: async () => {
        await stop();
        removeAddress(data, address);
      },
    };
  } catch (error) {
    removeAddress(data, address);
    throw new Problem(
      `The service cannot listen for commands at a socket (${(error as Error).message}); set CREWBOARD_DATA or TMPDIR to a shorter path on a local disk.`,
    );
  }
}

/** Deletes the socket at an address, and the private folder that was made for it. */
function removeAddress(data: DataFolder, address: string): void {
  try {
    rmSync(address, { force: true });
    if (dirname(address) !== data.folder) rmdirSync(dirname(address));
  } catch {
    // It is gone, or belongs to another program.
  }
}

/**
 * Deletes what a service that was killed has left in the locked data folder: its addresses, where another program may listen
 * now, and its socket.
 */
export function removeFormerAddresses(data: DataFolder): void {
  const former = readRunning(data.folder)?.commands;
  if (former !== undefined && process.platform !== 'win32') removeAddress(data, former);
  removeAddress(data, dataPath(data, dataFiles.commands));
  deleteData(data, dataFiles.addresses);
}

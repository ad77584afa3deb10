import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { CommandFailure } from '../run-program.ts';

/** Returns the data folder of the local service, as the service itself finds it. */
function dataFolder(): string {
  return process.env.CREWBOARD_DATA || '.crewboard';
}

/** Returns the path of the file with the access token of the local service. */
export function localTokenFile(): string {
  return join(dataFolder(), 'token');
}

/** Returns the token that the local service has written to its data folder; `undefined` if there is none. */
export function readLocalToken(): string | undefined {
  try {
    return readFileSync(localTokenFile(), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandFailure(`The access token of the local service cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Returns the URL of the service that runs on the data folder of this user; `undefined` if none runs. A service that was killed
 * leaves its address, where another program may listen now, which must not get the token. So the service counts as running only
 * if it listens at its socket in the folder, which other programs cannot open.
 */
export async function findLocalUrl(): Promise<string | undefined> {
  const { url, commands } = readAddresses() ?? {};
  if (typeof url !== 'string' || !/^http:\/\/127\.0\.0\.1:\d+$/.test(url)) return undefined;
  return typeof commands === 'string' && (await listensAt(commands)) ? url : undefined;
}

/** Returns what the service has written about itself to its data folder; `undefined` without a file of this user. */
function readAddresses(): { url?: unknown; commands?: unknown } | undefined {
  try {
    const file = openSync(join(dataFolder(), 'addresses.json'), 'r');
    try {
      // The folder may be one that somebody else has put below the working folder.
      if (fstatSync(file).uid !== (process.geteuid?.() ?? fstatSync(file).uid)) return undefined;
      return JSON.parse(readFileSync(file, 'utf8'));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Returns whether a program listens at a socket or a named pipe. */
function listensAt(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

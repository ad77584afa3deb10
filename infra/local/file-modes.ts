import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';

/** The permission bits of all users except the owner. */
const othersMask = 0o077;

/** The bit of a folder, such as `/tmp`, in which every user may create files and remove only their own. */
const stickyBit = 0o1000;

/** The mode of folders and files that only their owner can use. */
const ownerOnly = { folder: 0o700, file: 0o600 };

/** Opens no symbolic link, and does not wait for the writer of a pipe. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Sets the modes of a folder and of the service's files in it to 0700 and 0600, where others have rights. Follows no
 * symbolic link, and changes no file of another program. A folder with such files, a shared one such as `/tmp`, and the
 * folder of another user keep their mode. Does nothing on Windows, which has no modes.
 *
 * @param isOwn whether the service writes a file of this name
 * @returns what others can still use, and why, as a sentence; `undefined` if there is nothing
 */
export function closeToOthers(folder: string, isOwn: (name: string) => boolean): string | undefined {
  if (process.platform === 'win32') return undefined;
  const open = closeAll(folder, isOwn).filter(({ reason }) => reason !== undefined);
  if (open.length === 0) return undefined;
  const list = open.map(({ path, reason }) => `${path} (${reason})`).join(' and ');
  return `Other users of this machine may have access to ${list}; set the modes with chmod, or set CREWBOARD_DATA to a folder of its own.`;
}

/** A path, and why others still have rights on it; `undefined` if they have none. */
type Closed = { path: string; reason: string | undefined };

function closeAll(folder: string, isOwn: (name: string) => boolean): Closed[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    return [{ path: folder, reason: (error as Error).message }];
  }
  const reasonToKeep = ({ mode, uid }: Stats) => {
    if ((mode & stickyBit) !== 0) return 'many users share it';
    if (uid !== process.geteuid?.()) return 'it belongs to another user';
    return names.every(isOwn) ? undefined : 'it has files of other programs';
  };
  const files = names.filter(isOwn).map((name) => join(folder, name));
  return [
    { path: folder, reason: closeOne(folder, reasonToKeep) },
    ...files.map((path) => ({ path, reason: closeOne(path) })),
  ];
}

/**
 * Takes the rights of others on a folder or file.
 *
 * @param reasonToKeep why its mode must stay; `undefined` if it can change
 * @returns why others still have rights; `undefined` if they have none
 */
function closeOne(
  path: string,
  reasonToKeep: (stats: Stats) => string | undefined = () => undefined,
): string | undefined {
  try {
    const entry = lstatSync(path);
    if (entry.isSymbolicLink()) {
      const target = statSync(path, { throwIfNoEntry: false });
      return target && isOpen(target) ? 'it is a symbolic link' : undefined;
    }
    // A start replaces its socket, which cannot be opened as a file.
    if (!isOpen(entry) || entry.isSocket()) return undefined;
    return reasonToKeep(entry) ?? setMode(path, entry.isDirectory() ? ownerOnly.folder : ownerOnly.file);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Sets the mode. Returns why others still have rights; `undefined` if they have none. */
function setMode(path: string, mode: number): string | undefined {
  const descriptor = openSync(path, openFlags);
  try {
    fchmodSync(descriptor, mode);
    return isOpen(fstatSync(descriptor)) ? 'its file system has no modes' : undefined;
  } finally {
    closeSync(descriptor);
  }
}

const isOpen = ({ mode }: Stats) => (mode & othersMask) !== 0;

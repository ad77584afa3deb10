import type { DataFolder } from '../data-folder.ts';

/** How far each shard of the table's stream has been handled: the last sequence number, by shard id. */
export type Positions = Record<string, string>;

/** Where the positions are kept between two starts. */
export type KeptPositions = { read: () => Positions; write: (positions: Positions) => void };

const file = 'stream.json';

/** Returns the positions that are kept in a data folder. */
export function positionsOf(data: DataFolder): KeptPositions {
  return {
    read: () => positionsIn(data.read(file)),
    // Not flushed: from an older position on, changes are only handled again.
    write: (positions) => data.write(file, JSON.stringify(positions), { flush: false }),
  };
}

/** The positions in a file; none where there is no file, or the machine lost its power while it was written. */
export function positionsIn(text: string | undefined): Positions {
  try {
    return JSON.parse(text ?? '{}') as Positions;
  } catch {
    return {};
  }
}

import { type DataFolder, dataFiles, readData, writeData } from '../data-folder.ts';

/** The sequence number of the last handled record of each shard of the table's stream, by shard id. */
export type Positions = Record<string, string>;

/** Where the positions are stored between two starts of the service. */
export type PositionStore = { read: () => Positions; write: (positions: Positions) => void };

/** Creates a store that keeps the positions in a data folder. */
export function createPositionStore(data: DataFolder): PositionStore {
  return {
    read: () => parsePositions(readData(data, dataFiles.positions)),
    // Without a flush the machine may lose a position at a power failure. Changes after an older position are handled again.
    write: (positions) => writeData(data, dataFiles.positions, JSON.stringify(positions), { flush: false }),
  };
}

/** Returns the positions in the text of a file; none if there is no file or a power failure damaged it. */
export function parsePositions(text: string | undefined): Positions {
  try {
    return JSON.parse(text ?? '{}') as Positions;
  } catch {
    return {};
  }
}

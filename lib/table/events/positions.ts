import { ulidFrom } from '../../contract/ids.ts';
import type { Key } from '../access/keys.ts';
import type { Item } from '../access/write.ts';

/**
 * Followers read the event log by position. A position is a ULID, and followers see it when its time is `followDelayMs` ago.
 * The position of an event is the ULID of its id if the event was written in time. Followers may have passed the id of a
 * late event, so a late event has another position, which an item in the partition of the log stores; see
 * `late-events.ts`.
 */

/** How long after the time of a position its item may be written, by the clock of the publisher, in milliseconds. */
export const writtenWithinMs = 500;

/** The largest difference between the clocks of a publisher and a follower, in milliseconds. */
const clockDifferenceMs = 250;

/** How long after its time a position is visible to followers, in milliseconds. */
export const followDelayMs = writtenWithinMs + clockDifferenceMs;

/** The greatest time of a ULID (Unix time, in ms). */
export const maxTime = 2 ** 48 - 1;

/** Returns the least ULID of a time (Unix time, in ms). */
export function firstUlid(time: number): string {
  return ulidFrom(time, new Uint8Array(10));
}

/** Returns the greatest ULID of a time (Unix time, in ms). */
export function lastUlid(time: number): string {
  return ulidFrom(time, new Uint8Array(10).fill(255));
}

/** Returns a sort key that is greater than a ULID and less than all greater ULIDs. */
export function justAfter(ulid: string): string {
  return `${ulid}!`;
}

/** Returns a sort key that is less than a ULID and greater than all lesser ULIDs. */
export function justBefore(ulid: string): string {
  return `${ulid.slice(0, -1)}${String.fromCharCode(ulid.charCodeAt(ulid.length - 1) - 1)}~`;
}

/** The number of letters of a position that all positions of an item have. The others number them: 15 bits. */
const sharedLetters = 23;

/** Returns the letters that number a position of an item, from 0. */
const numberLetters = (number: number) => firstUlid(number).slice(7, 10);

/** Returns the last position of an item with late events. Its key has this position, so that it sorts after the others. */
export function lastPosition(ulid: string, events: number): string {
  return ulid.slice(0, sharedLetters) + numberLetters(events - 1);
}

/** Returns the greatest position that an item with a position can have. */
export function lastPossiblePosition(position: string): string {
  return position.slice(0, sharedLetters).padEnd(position.length, 'Z');
}

/** An item with late events: their ULIDs, in the order of their positions. */
export type LateItem = Key & { events: string[] };

/** Returns the late events of an item, each with its position. */
export function lateEventsOf(item: Item): { position: string; ulid: string }[] {
  const { sk, events } = item as LateItem;
  const shared = sk.slice(-26).slice(0, sharedLetters);
  return events.map((ulid, number) => ({ position: shared + numberLetters(number), ulid }));
}

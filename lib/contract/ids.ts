/** Returns the ULID of an id: the 26 characters after its prefix. */
export function ulidOf(id: string): string {
  return id.slice(-26);
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns the time in the first 10 characters of a ULID (ulid/spec) (Unix time, in ms). */
export function timeOf(ulid: string): number {
  return [...ulid.slice(0, 10)].reduce((time, letter) => time * 32 + alphabet.indexOf(letter), 0);
}

/**
 * Returns the ULID of a time (Unix time, in ms), and 10 bytes, which `ulid()` takes from a random source.
 *
 * @throws `RangeError` for a time that is no whole number
 */
export function ulidFrom(time: number, bytes: Uint8Array): string {
  if (!Number.isSafeInteger(time)) throw new RangeError(`${time} is no time of a ULID; use whole milliseconds.`);
  let letters = '';
  for (let at = 0, rest = time; at < 10; at++, rest = Math.floor(rest / 32)) letters = alphabet[rest % 32] + letters;
  // Each letter has five bits: the remaining bits of the previous bytes come first.
  for (let at = 0, bits = 0, left = 0; at < 10; at++) {
    bits = (bits << 8) | (bytes[at] as number);
    for (left += 8; left >= 5; left -= 5) letters += alphabet[(bits >> (left - 5)) & 31];
  }
  return letters;
}

/** Returns a time (Unix time, in ms), in the format of the API: ISO 8601 UTC with milliseconds. */
export function timestamp(time: number): string {
  return new Date(time).toISOString();
}

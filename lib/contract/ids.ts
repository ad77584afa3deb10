/** Returns the ULID of an id: the 26 characters after its prefix. */
export function ulidOf(id: string): string {
  return id.slice(-26);
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns the time in the first 10 characters of a ULID (ulid/spec) (Unix time, in ms). */
export function timeOf(ulid: string): number {
  return [...ulid.slice(0, 10)].reduce((time, letter) => time * 32 + alphabet.indexOf(letter), 0);
}

/** Returns the ULID of a time (Unix time, in ms), and 10 bytes, which `ulid()` takes from a random source. */
export function ulidFrom(time: number, bytes: Uint8Array): string {
  let value = BigInt(time);
  for (const byte of bytes.subarray(0, 10)) value = value * 256n + BigInt(byte);
  let letters = '';
  for (let at = 0; at < 26; at++) {
    letters = alphabet[Number(value % 32n)] + letters;
    value /= 32n;
  }
  return letters;
}

/** Returns a time (Unix time, in ms), in the format of the API: ISO 8601 UTC with milliseconds. */
export function timestamp(time: number): string {
  return new Date(time).toISOString();
}

/** The ULID behind an id's kind prefix: the last 26 characters. */
export function ulidOf(id: string): string {
  return id.slice(-26);
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The time that a ULID was made for, in milliseconds since 1970: its first 10 characters (ulid/spec). */
export function timeOf(ulid: string): number {
  return [...ulid.slice(0, 10)].reduce((time, letter) => time * 32 + alphabet.indexOf(letter), 0);
}

/** A ULID of a time in milliseconds since 1970 and 10 bytes: what `ulid()` makes of the clock and chance. */
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

/** A time in milliseconds since 1970 as the interface writes it: ISO 8601 UTC with milliseconds. */
export function timestamp(time: number): string {
  return new Date(time).toISOString();
}

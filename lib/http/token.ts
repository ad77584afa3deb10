import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * An access token. Its text is `crew_`, an id of 12 characters, a secret of 32 and a checksum of 6, all in base 62.
 * With the checksum, malformed tokens are rejected without a read, and secret scanners can detect valid tokens.
 */
export type Token = { id: string; secret: string };

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^crew_([0-9A-Za-z]{12})([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Returns random base 62 text. Bytes from 248 (4 × 62) on are discarded, so that all digits are equally likely. */
function random(length: number): string {
  let text = '';
  while (text.length < length)
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += digits[byte % 62];
  return text;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let sum = '';
  for (let at = 0; at < 6; at++) {
    sum = digits[rest % 62] + sum;
    rest = Math.floor(rest / 62);
  }
  return sum;
}

/** Creates a token with a random id and secret; the secret has 190 bits. */
export function mintToken(): Token {
  return { id: random(12), secret: random(32) };
}

/** Returns the text of a token. */
export function writeToken({ id, secret }: Token): string {
  return `crew_${id}${secret}${checksum(id + secret)}`;
}

/** Returns the token of a text, or `undefined` if the text is malformed. */
export function readToken(text: string): Token | undefined {
  const [, id, secret, sum] = shape.exec(text) ?? [];
  return id && secret && sum === checksum(id + secret) ? { id, secret } : undefined;
}

/** Returns the stored hash of a secret. Plain SHA-256 is sufficient: 190 random bits cannot be found by brute force. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

/** Returns whether a secret has the stored hash, in constant time. */
export function isSecret(secret: string, hash: string): boolean {
  const [one, other] = [Buffer.from(hashSecret(secret)), Buffer.from(hash)];
  return one.length === other.length && timingSafeEqual(one, other);
}

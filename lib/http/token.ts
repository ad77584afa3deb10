import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Bearer tokens: `crew_`, an id of 12 characters, a secret of 32 and a checksum of 6, all base 62. The checksum lets
 * junk be refused without a read, and secret scanners know a real token from a look-alike.
 */
export type Token = { id: string; secret: string };

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^crew_([0-9A-Za-z]{12})([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Random base 62 text; bytes past the last whole multiple of 62 are thrown away, so that no digit is likelier. */
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

/** A new token: 32 characters of base 62 are 190 bits of secret. */
export function mintToken(): Token {
  return { id: random(12), secret: random(32) };
}

/** The token as its holder sends it. */
export function writeToken({ id, secret }: Token): string {
  return `crew_${id}${secret}${checksum(id + secret)}`;
}

/** The parts of a token, or `undefined` for what cannot be one. */
export function readToken(text: string): Token | undefined {
  const [, id, secret, sum] = shape.exec(text) ?? [];
  return id && secret && sum === checksum(id + secret) ? { id, secret } : undefined;
}

/** What is kept of a secret. A plain SHA-256 will do: 190 random bits cannot be guessed back from it. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Whether a secret is the one whose hash is kept, compared in constant time. */
export function isSecret(secret: string, hash: string): boolean {
  const [one, other] = [Buffer.from(hashSecret(secret)), Buffer.from(hash)];
  return one.length === other.length && timingSafeEqual(one, other);
}

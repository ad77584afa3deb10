import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashSecret, isSecret, mintToken, readToken, writeToken } from '../../lib/http/token.ts';

const token = { id: '0123456789ab', secret: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef' };

describe('a token', () => {
  it('is crew_, an id, a secret and a checksum, in base 62, and can be read back', () => {
    expect(writeToken(token)).toMatch(/^crew_0123456789abABCDEFGHIJKLMNOPQRSTUVWXYZabcdef[0-9A-Za-z]{6}$/);
    expect(readToken(writeToken(token))).toEqual(token);
  });

  it('is different each time', () => {
    const minted = Array.from({ length: 1_000 }, mintToken);
    expect(new Set(minted.map(({ id }) => id)).size).toBe(1_000);
    expect(new Set(minted.map(({ secret }) => secret)).size).toBe(1_000);
    for (const one of minted) expect(readToken(writeToken(one))).toEqual(one);
  });

  it('is invalid with any one of its characters changed', () => {
    const text = writeToken(token);
    for (let at = 0; at < text.length; at++) {
      const changed = text[at] === '0' ? '1' : '0';
      expect(readToken(text.slice(0, at) + changed + text.slice(at + 1))).toBeUndefined();
    }
  });

  it.each([
    ['an empty text', ''],
    ['a character less', writeToken(token).slice(0, -1)],
    ['a character more', `${writeToken(token)}0`],
    ['a line break after it', `${writeToken(token)}\n`],
    ['a space before it', ` ${writeToken(token)}`],
    ['another prefix', writeToken(token).replace('crew_', 'ghp_')],
    ['a zero byte', `crew_${'\u0000'.repeat(50)}`],
    ['digits of another script', `crew_${'٣'.repeat(50)}`],
    ['a million characters', `crew_${'a'.repeat(1_000_000)}`],
  ])('is not valid as %s', (_, text) => {
    expect(readToken(text)).toBeUndefined();
  });
});

it('a secret is hashed with SHA-256, and matches its own hash only', () => {
  const hash = hashSecret(token.secret);
  expect(hash).toBe(createHash('sha256').update(token.secret).digest('hex'));
  expect(isSecret(token.secret, hash)).toBe(true);
  for (const other of [`${token.secret}x`, '']) expect(isSecret(other, hash)).toBe(false);
  for (const malformed of ['', 'short', hash.toUpperCase()]) expect(isSecret(token.secret, malformed)).toBe(false);
});

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openKeyFile } from '../../lib/webhooks/secrets.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

const context = { organization: 'one', webhook: 'wh_1' };
const newPath = () => join(createTemporaryFolder(), 'secrets.key');

describe('a sealed secret', () => {
  const { seal, open } = openKeyFile(newPath());

  it.each(['a secret', 'x', 'ü🚀\u0000', 's'.repeat(256), '🚀'.repeat(256)])('opens as it was: %j', async (secret) => {
    expect(await open(await seal(secret, context), context)).toBe(secret);
  });

  it('does not tell the secret', async () => {
    const sealed = await seal('a secret', context);
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('a secret');
    expect(sealed).not.toContain(Buffer.from('a secret').toString('base64').slice(0, -2));
  });

  it('differs from another seal of the same secret', async () => {
    expect(await seal('a secret', context)).not.toBe(await seal('a secret', context));
  });

  it.each([
    ['another webhook', { organization: 'one', webhook: 'wh_2' }],
    ['another organization', { organization: 'two', webhook: 'wh_1' }],
    ['what reads the same when it is joined', { organization: 'onewh', webhook: '_1' }],
  ])('does not open for %s', async (_, other) => {
    const sealed = await seal('a secret', context);
    await expect(open(sealed, other)).rejects.toThrow();
  });

  it('does not open with any of its bytes changed', async () => {
    const sealed = Buffer.from(await seal('a secret', context), 'base64');
    for (let at = 0; at < sealed.length; at++) {
      const tampered = Buffer.from(sealed);
      tampered.writeUInt8(sealed.readUInt8(at) ^ 1, at);
      await expect(open(tampered.toString('base64'), context)).rejects.toThrow();
    }
  });

  it('does not open cut short', async () => {
    const sealed = Buffer.from(await seal('a secret', context), 'base64');
    for (const length of [0, 12, 16, 28, sealed.length - 1])
      await expect(open(sealed.subarray(0, length).toString('base64'), context)).rejects.toThrow();
  });

  it('does not open under another key', async () => {
    const sealed = await seal('a secret', context);
    await expect(openKeyFile(newPath()).open(sealed, context)).rejects.toThrow();
  });
});

describe('the key file', () => {
  it('is made when it is first needed, of 32 bytes that its owner alone can read', async () => {
    const path = newPath();
    const { seal } = openKeyFile(path);
    expect(() => statSync(path)).toThrow('ENOENT');
    await seal('a secret', context);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path)).toHaveLength(32);
  });

  it('is taken again by the next process', async () => {
    const path = newPath();
    const sealed = await openKeyFile(path).seal('a secret', context);
    const key = readFileSync(path);
    expect(await openKeyFile(path).open(sealed, context)).toBe('a secret');
    expect(readFileSync(path)).toEqual(key);
  });

  it.each([0, 16, 31, 33, 64])('of %i bytes is no key, and is left as it is', async (length) => {
    const path = newPath();
    writeFileSync(path, Buffer.alloc(length, 7));
    await expect(openKeyFile(path).seal('a secret', context)).rejects.toThrow('32 bytes');
    expect(readFileSync(path)).toEqual(Buffer.alloc(length, 7));
  });

  it('that cannot be made seals nothing', async () => {
    await expect(openKeyFile(join(newPath(), 'below')).seal('a secret', context)).rejects.toThrow();
  });

  it('that is not named seals and opens nothing', async () => {
    const { seal, open } = openKeyFile(undefined);
    await expect(seal('a secret', context)).rejects.toThrow('no key');
    await expect(open('AAAA', context)).rejects.toThrow('no key');
  });
});

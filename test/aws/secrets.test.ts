import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { mockClient } from 'aws-sdk-client-mock';
import 'aws-sdk-client-mock-vitest/extend';
import { describe, expect, it } from 'vitest';
import { decryptSecret, encryptSecret, type SecretsContext } from '../../lib/aws/secrets.ts';
import { environment } from '../../lib/names/environment.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

const owner = { organization: 'one', webhook: 'wh_1' };
const newPath = () => join(createTemporaryFolder(), 'secrets.key');

/** The context of a new process whose key file has this path. */
const contextOf = (path: string | undefined, clock = () => 0): SecretsContext => ({
  variables: { [environment.secretsKeyFile]: path },
  clock,
  clients: {},
  secretKeys: new Map(),
  decryptedSecrets: new Map(),
});

describe('an encrypted secret', () => {
  const context = contextOf(newPath());
  const encrypt = (secret: string) => encryptSecret(context, secret, owner);
  const decrypt = (ciphertext: string, of = owner) => decryptSecret(context, ciphertext, of);

  it.each(['a secret', 'ü🚀\u0001', '🚀'.repeat(256)])(
    'is decrypted to the same text, which it does not contain: %j',
    async (secret) => {
      const ciphertext = await encrypt(secret);
      expect(await decrypt(ciphertext)).toBe(secret);
      expect(Buffer.from(ciphertext, 'base64').includes(secret)).toBe(false);
    },
  );

  it('differs each time that the same secret is encrypted', async () => {
    expect(await encrypt('a secret')).not.toBe(await encrypt('a secret'));
  });

  it.each([
    ['another webhook', { organization: 'one', webhook: 'wh_2' }],
    ['another organization', { organization: 'two', webhook: 'wh_1' }],
    ['an owner whose joined names are equal', { organization: 'onewh', webhook: '_1' }],
  ])('is not decrypted for %s', async (_, other) => {
    const ciphertext = await encrypt('a secret');
    // The secret is cached for its owner.
    expect(await decrypt(ciphertext)).toBe('a secret');
    await expect(decrypt(ciphertext, other)).rejects.toThrow();
  });

  it('is not decrypted with any byte changed', async () => {
    const ciphertext = Buffer.from(await encrypt('a secret'), 'base64');
    for (let at = 0; at < ciphertext.length; at++) {
      const tampered = Buffer.from(ciphertext);
      tampered.writeUInt8(ciphertext.readUInt8(at) ^ 1, at);
      await expect(decrypt(tampered.toString('base64'))).rejects.toThrow();
    }
  });

  it.each([0, 12, 16, 28, -1])('is not decrypted if its bytes behind %i are missing', async (length) => {
    const ciphertext = Buffer.from(await encrypt('a secret'), 'base64').subarray(0, length);
    await expect(decrypt(ciphertext.toString('base64'))).rejects.toThrow();
  });

  it('is not decrypted under another key', async () => {
    const ciphertext = await encrypt('a secret');
    await expect(decryptSecret(contextOf(newPath()), ciphertext, owner)).rejects.toThrow();
  });
});

describe('a deployment with a KMS key', () => {
  it('encrypts and decrypts secrets by that key, without a key file, in one request for simultaneous calls', async () => {
    const client = new KMSClient({});
    const kms = mockClient(client);
    kms.on(EncryptCommand).resolves({ CiphertextBlob: Buffer.from('encrypted') });
    kms.on(DecryptCommand).resolves({ Plaintext: Buffer.from('a secret') });
    const path = newPath();
    const context = { ...contextOf(path), clients: { kms: client } };
    context.variables = { ...context.variables, [environment.secretsKeyId]: 'the key' };
    const ciphertext = await encryptSecret(context, 'a secret', owner);
    const decrypted = await Promise.all([1, 2].map(() => decryptSecret(context, ciphertext, owner)));
    expect(decrypted).toEqual(['a secret', 'a secret']);
    expect(kms).toHaveReceivedCommandExactlyOnceWith(EncryptCommand, { KeyId: 'the key', EncryptionContext: owner });
    expect(kms).toHaveReceivedCommandExactlyOnceWith(DecryptCommand, { KeyId: 'the key', EncryptionContext: owner });
    expect(existsSync(path)).toBe(false);
  });
});

describe('a decrypted secret', () => {
  const minuteMs = 60_000;

  it('is cached for five minutes, and not for longer after a step back of the clock', async () => {
    let now = 10 * minuteMs;
    const path = newPath();
    const context = contextOf(path, () => now);
    const ciphertext = await encryptSecret(context, 'a secret', owner);
    await decryptSecret(context, ciphertext, owner);
    // Another key would not decrypt it.
    context.secretKeys.set(path, Buffer.alloc(32));
    for (const cachedAt of [10, 15 - 1 / minuteMs]) {
      now = cachedAt * minuteMs;
      expect(await decryptSecret(context, ciphertext, owner)).toBe('a secret');
    }
    for (const otherwise of [15, 10 - 1 / minuteMs]) {
      now = otherwise * minuteMs;
      await expect(decryptSecret(context, ciphertext, owner)).rejects.toThrow();
    }
  });

  it('is cached for a thousand webhooks at most', async () => {
    const path = newPath();
    const context = contextOf(path);
    const ciphertexts = await Promise.all(
      Array.from({ length: 1_001 }, (_, nth) => encryptSecret(context, 's', { ...owner, webhook: `wh_${nth}` })),
    );
    for (const [nth, ciphertext] of ciphertexts.entries())
      await decryptSecret(context, ciphertext, { ...owner, webhook: `wh_${nth}` });
    expect(context.decryptedSecrets.size).toBeLessThanOrEqual(1_000);
  });

  it('is not one that could not be decrypted', async () => {
    const path = newPath();
    const context = contextOf(path);
    const ciphertext = await encryptSecret(context, 'a secret', owner);
    const key = context.secretKeys.get(path) as Buffer;
    context.secretKeys.set(path, Buffer.alloc(32));
    await expect(decryptSecret(context, ciphertext, owner)).rejects.toThrow();
    context.secretKeys.set(path, key);
    expect(await decryptSecret(context, ciphertext, owner)).toBe('a secret');
  });
});

describe('the key file', () => {
  it('is created at its first use, with 32 bytes that only its owner can read, and used by the next process', async () => {
    const path = newPath();
    expect(existsSync(path)).toBe(false);
    const ciphertext = await encryptSecret(contextOf(path), 'a secret', owner);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const key = readFileSync(path);
    expect(key).toHaveLength(32);
    expect(await decryptSecret(contextOf(path), ciphertext, owner)).toBe('a secret');
    expect(readFileSync(path)).toEqual(key);
  });

  it.each([0, 31, 33])('is rejected with %i bytes, and not changed', async (length) => {
    const path = newPath();
    writeFileSync(path, Buffer.alloc(length, 7));
    await expect(encryptSecret(contextOf(path), 'a secret', owner)).rejects.toThrow('32 bytes');
    expect(readFileSync(path)).toEqual(Buffer.alloc(length, 7));
  });

  it('is required: nothing is encrypted if it cannot be created, or the environment names none', async () => {
    await expect(encryptSecret(contextOf(join(newPath(), 'below')), 'a secret', owner)).rejects.toThrow('ENOENT');
    await expect(encryptSecret(contextOf(undefined), 'a secret', owner)).rejects.toThrow('no key');
    await expect(decryptSecret(contextOf(undefined), 'AAAA', owner)).rejects.toThrow('no key');
  });
});

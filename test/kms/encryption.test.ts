import {
  DecryptCommand,
  type DecryptCommandInput,
  EncryptCommand,
  type EncryptCommandInput,
  InvalidCiphertextException,
  KMSClient,
} from '@aws-sdk/client-kms';
import { mockClient } from 'aws-sdk-client-mock';
import 'aws-sdk-client-mock-vitest/extend';
import { beforeEach, describe, expect, it } from 'vitest';
import { decryptByKms, encryptByKms, type KmsContext } from '../../lib/kms/encryption.ts';

const keyId = 'arn:aws:kms:eu-central-1:111122223333:key/a';
const owner = { organization: 'acme', webhook: 'wh_1' };
const minuteMs = 60_000;
let now = 0;
const client = new KMSClient({});
let context: KmsContext;
const kms = mockClient(client);

/** Puts the encryption context before the secret, so that `decrypt` can check it. */
const encrypt = async ({ Plaintext, EncryptionContext }: EncryptCommandInput) => ({
  CiphertextBlob: Buffer.from(`${JSON.stringify(EncryptionContext)}\n${Buffer.from(Plaintext as Uint8Array)}`),
});

/** Decrypts under the encryption context of the secret only, as KMS does. */
const decrypt = async ({ CiphertextBlob, EncryptionContext }: DecryptCommandInput) => {
  const text = Buffer.from(CiphertextBlob as Uint8Array).toString();
  const [encryptedFor, ...secret] = text.split('\n');
  if (encryptedFor !== JSON.stringify(EncryptionContext))
    throw new InvalidCiphertextException({ message: 'Another context.', $metadata: {} });
  return { Plaintext: Buffer.from(secret.join('\n')) };
};

beforeEach(() => {
  kms.reset();
  kms.on(EncryptCommand).callsFake(encrypt);
  kms.on(DecryptCommand).callsFake(decrypt);
  now = 0;
  context = { clock: () => now, clients: { kms: client }, decryptedSecrets: new Map() };
});

const encrypted = (secret: string, of = owner) => encryptByKms(context, keyId, secret, of);
const decrypted = (ciphertext: string, of = owner) => decryptByKms(context, keyId, ciphertext, of);

describe('secrets encrypted by KMS', () => {
  it('are decrypted to the text that was encrypted', async () => {
    const secret = `${'ä'.repeat(128)}\n${'😀'.repeat(127)}`;
    expect(await decrypted(await encrypted(secret))).toBe(secret);
  });

  it('are encrypted and decrypted under the key and the encryption context of their webhook', async () => {
    await decrypted(await encrypted('s'));
    const bound = { KeyId: keyId, EncryptionContext: owner };
    expect(kms).toHaveReceivedCommandExactlyOnceWith(EncryptCommand, bound);
    expect(kms).toHaveReceivedCommandExactlyOnceWith(DecryptCommand, bound);
  });

  it('cannot be decrypted for another webhook, even while the secret is cached', async () => {
    const ciphertext = await encrypted('s');
    await decrypted(ciphertext);
    await expect(decrypted(ciphertext, { ...owner, webhook: 'wh_2' })).rejects.toThrow(InvalidCiphertextException);
    await expect(decrypted(ciphertext, { ...owner, organization: 'other' })).rejects.toThrow(
      InvalidCiphertextException,
    );
  });

  it('are decrypted by KMS once in five minutes', async () => {
    const ciphertext = await encrypted('s');
    await decrypted(ciphertext);
    now = 5 * minuteMs - 1;
    await decrypted(ciphertext);
    expect(kms).toHaveReceivedCommandTimes(DecryptCommand, 1);
    now = 5 * minuteMs;
    expect(await decrypted(ciphertext)).toBe('s');
    expect(kms).toHaveReceivedCommandTimes(DecryptCommand, 2);
  });

  it('are cached for a thousand webhooks at most', async () => {
    const ciphertext = await encrypted('first');
    await decrypted(ciphertext);
    for (let nth = 0; nth < 1_000; nth++) {
      const other = { ...owner, webhook: `wh_other_${nth}` };
      await decrypted(await encrypted('s', other), other);
    }
    kms.resetHistory();
    await decrypted(ciphertext);
    expect(kms).toHaveReceivedCommandTimes(DecryptCommand, 1);
  });

  it('are not decrypted while KMS fails, and the failure is not cached', async () => {
    const ciphertext = await encrypted('s');
    kms.on(DecryptCommand).rejectsOnce('KMS is away.').callsFake(decrypt);
    await expect(decrypted(ciphertext)).rejects.toThrow('KMS is away');
    expect(await decrypted(ciphertext)).toBe('s');
  });
});

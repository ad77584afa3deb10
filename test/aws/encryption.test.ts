import {
  DecryptCommand,
  type DecryptCommandInput,
  EncryptCommand,
  InvalidCiphertextException,
  KMSClient,
} from '@aws-sdk/client-kms';
import { mockClient } from 'aws-sdk-client-mock';
import 'aws-sdk-client-mock-vitest/extend';
import { beforeEach, expect, it } from 'vitest';
import { decryptByKms, encryptByKms, type KmsContext } from '../../lib/aws/encryption.ts';

const keyId = 'arn:aws:kms:eu-central-1:111122223333:key/a';
const owner = { organization: 'acme', webhook: 'wh_1' };
const client = new KMSClient({});
const context: KmsContext = { clients: { kms: client } };
const kms = mockClient(client);

/** Decrypts under the encryption context of the secret only, as KMS does. */
const decryptLikeKms = async ({ CiphertextBlob, EncryptionContext }: DecryptCommandInput) => {
  const { bound, secret } = JSON.parse(Buffer.from(CiphertextBlob as Uint8Array).toString());
  if (bound !== JSON.stringify(EncryptionContext))
    throw new InvalidCiphertextException({ message: 'Another context.', $metadata: {} });
  return { Plaintext: Buffer.from(secret) };
};

beforeEach(() => {
  kms.reset();
  kms.on(EncryptCommand).callsFake(async ({ Plaintext, EncryptionContext }) => ({
    CiphertextBlob: Buffer.from(
      JSON.stringify({ bound: JSON.stringify(EncryptionContext), secret: Buffer.from(Plaintext).toString() }),
    ),
  }));
  kms.on(DecryptCommand).callsFake(decryptLikeKms);
});

const encrypt = (secret: string, of = owner) => encryptByKms(context, keyId, secret, of);
const decrypt = (ciphertext: string, of = owner) => decryptByKms(context, keyId, ciphertext, of);

it.each([{ webhook: 'wh_2' }, { organization: 'other' }])('a secret cannot be decrypted for %o', async (other) => {
  const ciphertext = await encrypt('s');
  expect(await decrypt(ciphertext)).toBe('s');
  await expect(decrypt(ciphertext, { ...owner, ...other })).rejects.toThrow(InvalidCiphertextException);
});

it('a secret is not decrypted while KMS fails', async () => {
  const ciphertext = await encrypt('s');
  kms.on(DecryptCommand).rejectsOnce('KMS is away.').callsFake(decryptLikeKms);
  await expect(decrypt(ciphertext)).rejects.toThrow('KMS is away');
  expect(await decrypt(ciphertext)).toBe('s');
});

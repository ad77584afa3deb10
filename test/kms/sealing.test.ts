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
import { openKms } from '../../lib/kms/sealing.ts';

const keyId = 'arn:aws:kms:eu-central-1:111122223333:key/a';
const context = { organization: 'acme', webhook: 'wh_1' };
const minuteMs = 60_000;
let now = 0;
const client = new KMSClient({});
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
});

const open = () => openKms(client, keyId, () => now);

describe('secrets sealed by KMS', () => {
  it('are opened as they were given', async () => {
    const secrets = open();
    const secret = `${'ä'.repeat(128)}\n${'😀'.repeat(127)}`;
    expect(await secrets.open(await secrets.seal(secret, context), context)).toBe(secret);
  });

  it('are sealed and opened under the key and the context of their webhook', async () => {
    const secrets = open();
    await secrets.open(await secrets.seal('s', context), context);
    const bound = { KeyId: keyId, EncryptionContext: context };
    expect(kms).toHaveReceivedCommandExactlyOnceWith(EncryptCommand, bound);
    expect(kms).toHaveReceivedCommandExactlyOnceWith(DecryptCommand, bound);
  });

  it('open for no other webhook, not even one that was opened a moment before', async () => {
    const secrets = open();
    const sealed = await secrets.seal('s', context);
    await secrets.open(sealed, context);
    await expect(secrets.open(sealed, { ...context, webhook: 'wh_2' })).rejects.toThrow(InvalidCiphertextException);
    await expect(secrets.open(sealed, { ...context, organization: 'other' })).rejects.toThrow(
      InvalidCiphertextException,
    );
  });

  it('are asked for once in five minutes, and again from then on', async () => {
    const secrets = open();
    const sealed = await secrets.seal('s', context);
    await secrets.open(sealed, context);
    now = 5 * minuteMs - 1;
    await secrets.open(sealed, context);
    expect(kms).toHaveReceivedCommandTimes(DecryptCommand, 1);
    now = 5 * minuteMs;
    expect(await secrets.open(sealed, context)).toBe('s');
    expect(kms).toHaveReceivedCommandTimes(DecryptCommand, 2);
  });

  it('are kept open for a thousand webhooks at most', async () => {
    const secrets = open();
    const sealed = await secrets.seal('first', context);
    await secrets.open(sealed, context);
    for (let nth = 0; nth < 1_000; nth++) {
      const other = { ...context, webhook: `wh_other_${nth}` };
      await secrets.open(await secrets.seal('s', other), other);
    }
    kms.resetHistory();
    await secrets.open(sealed, context);
    expect(kms).toHaveReceivedCommandTimes(DecryptCommand, 1);
  });

  it('cannot be had while KMS is away, and nothing is remembered of that', async () => {
    const secrets = open();
    const sealed = await secrets.seal('s', context);
    kms.on(DecryptCommand).rejectsOnce('KMS is away.').callsFake(decrypt);
    await expect(secrets.open(sealed, context)).rejects.toThrow('KMS is away');
    expect(await secrets.open(sealed, context)).toBe('s');
  });
});

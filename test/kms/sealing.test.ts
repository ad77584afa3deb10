import { type DecryptCommand, EncryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import { beforeEach, describe, expect, it } from 'vitest';
import { openKms } from '../../lib/kms/sealing.ts';

const keyId = 'arn:aws:kms:eu-central-1:111122223333:key/a';
const context = { organization: 'acme', webhook: 'wh_1' };
const minuteMs = 60_000;
let now = 0;
let sent: unknown[];
let away: boolean;

/** A key of KMS: what it seals names its context, and it opens nothing under another one. */
const kms = {
  send: async (command: EncryptCommand | DecryptCommand) => {
    sent.push(command.input);
    if (away) throw new Error('KMS is away.');
    const bound = JSON.stringify(command.input.EncryptionContext);
    if (command instanceof EncryptCommand)
      return { CiphertextBlob: Buffer.concat([Buffer.from(`${bound}\n`), command.input.Plaintext as Uint8Array]) };
    const [sealedFor = '', ...secret] = Buffer.from(command.input.CiphertextBlob as Uint8Array)
      .toString()
      .split('\n');
    if (sealedFor !== bound) throw new Error('InvalidCiphertextException');
    return { Plaintext: Buffer.from(secret.join('\n')) };
  },
} as unknown as Pick<KMSClient, 'send'>;

beforeEach(() => {
  sent = [];
  away = false;
  now = 0;
});

const open = () => openKms(kms, keyId, () => now);

describe('secrets sealed by KMS', () => {
  it('are opened as they were given', async () => {
    const secrets = open();
    const secret = `${'ä'.repeat(128)}\n${'😀'.repeat(127)}`;
    expect(await secrets.open(await secrets.seal(secret, context), context)).toBe(secret);
  });

  it('are sealed and opened under the key and the context of their webhook', async () => {
    const secrets = open();
    await secrets.open(await secrets.seal('s', context), context);
    expect(sent).toMatchObject([
      { KeyId: keyId, EncryptionContext: context },
      { KeyId: keyId, EncryptionContext: context },
    ]);
  });

  it('open for no other webhook, not even one that was opened a moment before', async () => {
    const secrets = open();
    const sealed = await secrets.seal('s', context);
    await secrets.open(sealed, context);
    await expect(secrets.open(sealed, { ...context, webhook: 'wh_2' })).rejects.toThrow('InvalidCiphertext');
    await expect(secrets.open(sealed, { ...context, organization: 'other' })).rejects.toThrow('InvalidCiphertext');
  });

  it('are asked for once in five minutes, and again from then on', async () => {
    const secrets = open();
    const sealed = await secrets.seal('s', context);
    await secrets.open(sealed, context);
    now = 5 * minuteMs - 1;
    await secrets.open(sealed, context);
    expect(sent).toHaveLength(2);
    now = 5 * minuteMs;
    expect(await secrets.open(sealed, context)).toBe('s');
    expect(sent).toHaveLength(3);
  });

  it('are kept open for a thousand webhooks at most', async () => {
    const secrets = open();
    const sealed = await secrets.seal('first', context);
    await secrets.open(sealed, context);
    for (let nth = 0; nth < 1_000; nth++) {
      const other = { ...context, webhook: `wh_other_${nth}` };
      await secrets.open(await secrets.seal('s', other), other);
    }
    sent = [];
    await secrets.open(sealed, context);
    expect(sent).toHaveLength(1);
  });

  it('cannot be had while KMS is away, and nothing is remembered of that', async () => {
    const secrets = open();
    const sealed = await secrets.seal('s', context);
    away = true;
    await expect(secrets.open(sealed, context)).rejects.toThrow('KMS is away');
    away = false;
    expect(await secrets.open(sealed, context)).toBe('s');
  });
});

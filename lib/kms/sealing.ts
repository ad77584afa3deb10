import { DecryptCommand, EncryptCommand, type KMSClient } from '@aws-sdk/client-kms';

/** The longest time that an opened secret is kept, in milliseconds, and the most secrets that are kept. */
const keptMs = 5 * 60_000;
const keptAtMost = 1_000;

/** What a secret belongs to: sealed for one thing, it opens for no other. KMS writes it into its trail. */
type Context = Record<string, string>;

/**
 * Secrets sealed by AWS KMS: how a deployment in AWS keeps those of its webhooks. The key never leaves KMS; a secret is
 * small enough to be sealed by it directly (4,096 bytes; docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html).
 *
 * @param keyId the key's ARN
 * @returns what `lib/webhooks` takes as its `Secrets`
 */
export function openKms(client: Pick<KMSClient, 'send'>, keyId: string, clock: () => number) {
  const kept = new Map<string, { secret: string; until: number }>();
  return {
    seal: async (secret: string, context: Context): Promise<string> => {
      const command = new EncryptCommand({
        KeyId: keyId,
        Plaintext: Buffer.from(secret, 'utf8'),
        EncryptionContext: context,
      });
      const { CiphertextBlob } = await client.send(command);
      return Buffer.from(CiphertextBlob as Uint8Array).toString('base64');
    },
    open: async (sealed: string, context: Context): Promise<string> => {
      const name = JSON.stringify([context, sealed]);
      const known = kept.get(name);
      if (known && known.until > clock()) return known.secret;
      const command = new DecryptCommand({
        KeyId: keyId,
        CiphertextBlob: Buffer.from(sealed, 'base64'),
        EncryptionContext: context,
      });
      const { Plaintext } = await client.send(command);
      const secret = Buffer.from(Plaintext as Uint8Array).toString('utf8');
      if (kept.size >= keptAtMost) kept.clear();
      kept.set(name, { secret, until: clock() + keptMs });
      return secret;
    },
  };
}

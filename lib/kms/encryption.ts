import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { callLimitConfig, callLimitsOf } from '../aws/call-limits.ts';
import { clientConfig } from '../aws/client-config.ts';

/** A decrypted secret, and until when it is cached; Unix time, in ms. */
type DecryptedSecret = { secret: string; until: number };

/** The part of a context that encryption by KMS needs. */
export type KmsContext = {
  clock: () => number;
  /** The clients of AWS that this process has created. */
  clients: { kms?: KMSClient };
  /** The secrets that this process has decrypted lately. */
  decryptedSecrets: Map<string, DecryptedSecret>;
};

/**
 * The encryption context names the organization and the webhook of a secret. KMS decrypts the secret under the same encryption context only, and
 * writes it to CloudTrail.
 */
type EncryptionContext = Record<string, string>;

/** How long a decrypted secret is cached, in milliseconds, and how many are. */
const cachedForMs = 5 * 60_000;
const cachedAtMost = 1_000;

/**
 * Encrypts a secret with a key that never leaves AWS KMS. KMS encrypts up to 4,096 bytes directly
 * (docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html), and secrets of webhooks are shorter.
 *
 * @param keyId the ARN of the key
 * @returns base64
 */
export async function encryptByKms(
  context: KmsContext,
  keyId: string,
  secret: string,
  owner: EncryptionContext,
): Promise<string> {
  const command = new EncryptCommand({
    KeyId: keyId,
    Plaintext: Buffer.from(secret, 'utf8'),
    EncryptionContext: owner,
  });
  const { CiphertextBlob } = await clientOf(context).send(command);
  return Buffer.from(CiphertextBlob as Uint8Array).toString('base64');
}

/** Decrypts a secret that `encryptByKms` encrypted under the same key and owner. */
export async function decryptByKms(
  context: KmsContext,
  keyId: string,
  encrypted: string,
  owner: EncryptionContext,
): Promise<string> {
  const { clock, decryptedSecrets: cache } = context;
  const name = JSON.stringify([owner, encrypted]);
  const cached = cache.get(name);
  const now = clock();
  // After a step back of the clock, the end is further away than it can be.
  if (cached && now < cached.until && cached.until <= now + cachedForMs) return cached.secret;
  const command = new DecryptCommand({
    KeyId: keyId,
    CiphertextBlob: Buffer.from(encrypted, 'base64'),
    EncryptionContext: owner,
  });
  const { Plaintext } = await clientOf(context).send(command);
  const secret = Buffer.from(Plaintext as Uint8Array).toString('utf8');
  if (cache.size >= cachedAtMost) cache.clear();
  cache.set(name, { secret, until: clock() + cachedForMs });
  return secret;
}

/** Creates the client of KMS; `endpoint` is that of a local engine. */
export function createKmsClient(endpoint?: string, limits = callLimitsOf('kms', endpoint)): KMSClient {
  return new KMSClient({ ...clientConfig(endpoint), ...callLimitConfig(limits) });
}

function clientOf({ clients }: KmsContext): KMSClient {
  clients.kms ??= createKmsClient();
  return clients.kms;
}

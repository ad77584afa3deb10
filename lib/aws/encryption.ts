import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { callLimitConfig, callLimitsOf } from './call-limits.ts';
import { clientConfig } from './client-config.ts';

/** The part of a context that encryption by KMS needs. */
export type KmsContext = {
  /** The clients of AWS that this process has created. */
  clients: { kms?: KMSClient };
};

/**
 * The encryption context names the organization and the webhook of a secret. KMS decrypts the secret under the same encryption context only, and
 * writes it to CloudTrail.
 */
type EncryptionContext = Record<string, string>;

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
  const command = new DecryptCommand({
    KeyId: keyId,
    CiphertextBlob: Buffer.from(encrypted, 'base64'),
    EncryptionContext: owner,
  });
  const { Plaintext } = await clientOf(context).send(command);
  return Buffer.from(Plaintext as Uint8Array).toString('utf8');
}

/** Creates the client of KMS; `endpoint` is the endpoint of a local engine. */
export function createKmsClient(endpoint?: string, limits = callLimitsOf('kms', endpoint)): KMSClient {
  return new KMSClient({ ...clientConfig(endpoint), ...callLimitConfig(limits) });
}

function clientOf({ clients }: KmsContext): KMSClient {
  clients.kms ??= createKmsClient();
  return clients.kms;
}

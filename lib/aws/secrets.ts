import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setBounded } from '../contract/bounded-map.ts';
import { environment } from '../names/environment.ts';
import { decryptByKms, encryptByKms, type KmsContext } from './encryption.ts';

/** The webhook that a secret belongs to: a secret that is encrypted for one webhook cannot be decrypted for another. */
export type SecretOwner = { organization: string; webhook: string };

/** A secret that is being decrypted or is decrypted, and until when it is cached; Unix time, in ms. */
type DecryptedSecret = { secret: Promise<string>; until: number };

/** The part of a context that encrypting and decrypting secrets needs. */
export type SecretsContext = KmsContext & {
  clock: () => number;
  /** The secrets that this process has decrypted lately. */
  decryptedSecrets: Map<string, DecryptedSecret>;
  variables: Readonly<Record<string, string | undefined>>;
  /** The keys that this process has read, by the paths of their files. */
  secretKeys: Map<string, Buffer>;
};

/** How long a decrypted secret is cached, in milliseconds, and how many are. */
const cachedForMs = 5 * 60_000;
const cachedAtMost = 1_000;

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

const additionalData = ({ organization, webhook }: SecretOwner) => Buffer.from(JSON.stringify([organization, webhook]));

/**
 * Encrypts the secret of a webhook: by the KMS key that `SECRETS_KEY_ID` names, or else with AES-256-GCM under the key in
 * the file that `SECRETS_KEY_FILE` names. The first use creates the file with mode 0600.
 *
 * @throws Error in a deployment without a key
 */
export async function encryptSecret(context: SecretsContext, secret: string, owner: SecretOwner): Promise<string> {
  const keyId = context.variables[environment.secretsKeyId];
  if (keyId) return encryptByKms(context, keyId, secret, owner);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, keyOf(context), iv).setAAD(additionalData(owner));
  const encrypted = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64');
}

/**
 * Decrypts the secret of a webhook, once in five minutes. Simultaneous calls, as for the messages of a batch, share one request.
 *
 * @throws Error in a deployment without a key, and for a secret of another webhook or key
 */
export async function decryptSecret(context: SecretsContext, text: string, owner: SecretOwner): Promise<string> {
  const { clock, decryptedSecrets: cache } = context;
  const name = JSON.stringify([owner, text]);
  const cached = cache.get(name);
  const now = clock();
  // After a step back of the clock, the end is further away than it can be.
  if (cached && now < cached.until && cached.until <= now + cachedForMs) return cached.secret;
  const decrypted = { secret: decrypt(context, text, owner), until: now + cachedForMs };
  setBounded(cache, name, decrypted, cachedAtMost);
  try {
    return await decrypted.secret;
  } catch (error) {
    if (cache.get(name) === decrypted) cache.delete(name);
    throw error;
  }
}

async function decrypt(context: SecretsContext, text: string, owner: SecretOwner): Promise<string> {
  const keyId = context.variables[environment.secretsKeyId];
  return keyId ? decryptByKms(context, keyId, text, owner) : decryptByFile(context, text, owner);
}

function decryptByFile(context: SecretsContext, text: string, owner: SecretOwner): string {
  const encrypted = Buffer.from(text, 'base64');
  const iv = encrypted.subarray(0, ivBytes);
  const decipher = createDecipheriv(algorithm, keyOf(context), iv, { authTagLength: tagBytes })
    .setAAD(additionalData(owner))
    .setAuthTag(encrypted.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(encrypted.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
}

/** Returns the key in the key file, which is created if it does not exist. */
function keyOf({ variables, secretKeys }: SecretsContext): Buffer {
  const path = variables[environment.secretsKeyFile];
  if (!path) throw new Error('This deployment has no key for webhook secrets; set SECRETS_KEY_ID or SECRETS_KEY_FILE.');
  const key = secretKeys.get(path) ?? readKey(path);
  secretKeys.set(path, key);
  return key;
}

function readKey(path: string): Buffer {
  try {
    writeFileSync(path, randomBytes(keyBytes), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const key = readFileSync(path);
  if (key.length !== keyBytes) throw new Error(`${path} is not a key of ${keyBytes} bytes; restore it from a backup.`);
  return key;
}

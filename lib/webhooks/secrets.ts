import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

/** What a secret belongs to: sealed for one webhook, it opens for no other. */
export type SecretContext = { organization: string; webhook: string };

/** How webhook secrets are kept: sealed before they are stored, opened only to sign. */
export type Secrets = {
  seal: (secret: string, context: SecretContext) => Promise<string>;
  open: (sealed: string, context: SecretContext) => Promise<string>;
};

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

const bound = ({ organization, webhook }: SecretContext) => Buffer.from(JSON.stringify([organization, webhook]));

/**
 * Secrets sealed with AES-256-GCM under a key in a file, which is made with mode 0600 when it is first needed: the
 * local deployment's way.
 *
 * @param path the key's file; without one nothing can be sealed, and `seal` and `open` throw
 */
export function openKeyFile(path: string | undefined): Secrets {
  let key: Buffer | undefined;
  const read = (): Buffer => {
    if (!path) throw new Error('This deployment has no key for webhook secrets.');
    key ??= readKey(path);
    return key;
  };
  return {
    seal: async (secret, context) => {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, read(), iv).setAAD(bound(context));
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
    },
    open: async (text, context) => {
      const sealed = Buffer.from(text, 'base64');
      const decipher = createDecipheriv(algorithm, read(), sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
        .setAAD(bound(context))
        .setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
      return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
    },
  };
}

function readKey(path: string): Buffer {
  try {
    writeFileSync(path, randomBytes(keyBytes), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const key = readFileSync(path);
  if (key.length !== keyBytes) throw new Error(`${path} is not a key of ${keyBytes} bytes.`);
  return key;
}
